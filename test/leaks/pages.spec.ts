import { inspect } from 'node:util';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { OnPayment, type HostedStart, type PaymentEvent, type PaymentStore } from 'nestjs-card-payment';
import { FAULT_NAMES, type Simulator } from 'nestjs-card-payment/simulator';
import { cliHere } from '../cli/cli.js';
import { type Merchant, startMerchant } from '../e2e/merchant.js';
import { openedStoreAt } from '../rigs/shared-stores.js';
import { startTimelessGateway } from '../rigs/simulated-gateway.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { Notebook } from './notebook.js';
import { type Leak, type Secret, searchFor } from './secret-search.js';

const DECLINED_CARD = '4111111111111111';
/** On each page that the simulator shows. */
const FORM_PATH = 'EmbeddedPayment/processPayment';

let folder: ReturnType<typeof makeScratchFolder>;
let storeUrl: string;
let store: PaymentStore;
let simulator: Simulator;
let notebook: Notebook;
let recorder: TelemetryRecorder;
let merchant: Merchant;
/** What lets its holder pay, or come back as the buyer. */
const secrets: Secret[] = [];
const ids: string[] = [];
let orders = 0;

class Handlers {
  @OnPayment(['succeeded', 'failed', 'expired', 'unknown', 'review'], { id: 'auditor' })
  audit(event: PaymentEvent): void {
    notebook.note('awaited event', event);
  }
}

describe('pages', () => {
  beforeAll(async () => {
    folder = makeScratchFolder('leaks');
    storeUrl = `sqlite:${folder.path}/payments.db`;
    notebook = new Notebook();
    recorder = new TelemetryRecorder().start();
    simulator = await startTimelessGateway();
    notebook.listen();
    merchant = await startMerchant('express', simulator, {
      options: { storeUrl, background: false, timeoutMs: 1_000 },
      structure: { callback: { waitMs: 500 } },
      metadata: { providers: [Handlers] },
      override: (builder) => builder.setLogger(notebook.logger),
      application: { logger: notebook.logger },
    });
    merchant.app
      .get(EventEmitter2)
      .onAny((name, event: unknown) => notebook.note(`plain event ${String(name)}`, event));
    store = await openedStoreAt(storeUrl);
  });
  afterAll(async () => {
    notebook.stop();
    recorder.stop();
    await merchant.app.close();
    await store.close();
    await simulator.close();
    folder.remove();
  });

  it('opens pages and forms that are paid, declined, given up or left open', async () => {
    const { payments } = merchant;
    for (const form of ['page', 'embedded'] as const) {
      const paid = await start(order({ form }));
      const back = simulator.payAtPage(paid.conversationId);
      await look(paid.conversationId);
      await notebook.page('callback', back.request.url, back.request);
      await notebook.page('callback again', back.request.url, back.request);
      await look(paid.conversationId);

      const declined = await start(order({ form }));
      const failed = simulator.payAtPage(declined.conversationId, { cardNo: DECLINED_CARD });
      await notebook.page('callback', failed.request.url, failed.request);
      await notebook.page('attack', failed.request.url, {
        method: 'POST',
        body: new URLSearchParams({ conversationId: 'A1' }),
      });
      await look(declined.conversationId);

      const left = await start(order({ form }));
      await notebook.watch('abandon', () => payments.abandon(left.conversationId));
      await look(left.conversationId);
      await start(order({ form }));
    }
    for (const kind of FAULT_NAMES) {
      simulator.fail({ operation: 'hostedPage', kind });
      await notebook.watch('startHosted', async () => (await payments.startHosted(order())).payment);
    }
    await notebook.watch('reconcile', () => payments.reconcile());
  });

  it('keeps the address of a page in the record of an open one, and nowhere else', async () => {
    for (const id of ids) await noteRows(id);
    for (const text of await recorder.texts()) notebook.note('spans and metrics', text);
    notebook.note('service', inspect(merchant.payments, { depth: 20, showHidden: true }));
    const states = await Promise.all(ids.map(async (id) => (await store.find('default', id))?.state));
    expect(new Set(states)).toEqual(new Set(['succeeded', 'pending', 'expired']));
    const sources = ['startHosted', 'find', 'command line', 'log', 'awaited event', 'plain event', 'record', 'history'];
    for (const source of [...sources, 'callback', 'spans and metrics']) {
      expect([source, notebook.evidence.some((item) => item.source.startsWith(source))]).toEqual([source, true]);
    }
    expect(notebook.evidence.some(({ text }) => text.includes('page_open'))).toBe(true);
    expect(tokens().length).toBeGreaterThan(10);
    expect(summary(searchFor([...secrets, ...tokens()], notebook.evidence))).toEqual([]);
  });

  it('would find each of them, wherever it was shown', () => {
    for (const secret of [...secrets, ...tokens().slice(0, 3)]) {
      const planting = new Notebook();
      planting.logger.warn({ deep: { payment: { reference: `x ${secret.text} x` } } });
      planting.note('event', `x${secret.text}x`);
      const found = new Set(searchFor([secret], planting.evidence).map(({ source }) => source));
      expect(found).toEqual(new Set(['log: warn', 'event']));
    }
  });
});

function order(more: object = {}) {
  orders += 1;
  return { reference: `page-${orders}`, transactionDetails: { amount: '149.90', currencyCode: 949 }, ...more };
}

/** Starts it. What the merchant gets is for the buyer alone; all else is searched. */
async function start(sale: ReturnType<typeof order>): Promise<HostedStart> {
  const { payments } = merchant;
  const started = await payments.startHosted(sale);
  const { conversationId, redirectUrl, html, ...shown } = started;
  notebook.note('startHosted', { conversationId, ...shown });
  ids.push(conversationId);
  if (redirectUrl) secrets.push({ name: 'page', text: redirectUrl.split('/').at(-1)! });
  if (html) secrets.push({ name: 'form', text: sessionIn(html) }, { name: 'form', text: FORM_PATH });
  await notebook.watch('startHosted again', async () => (await payments.startHosted(sale)).payment);
  const other = sale as object as Parameters<typeof payments.startHosted>[0];
  await notebook.watch('startHosted otherwise', () => payments.startHosted({ ...other, form: 'embedded' }));
  const dearer = { ...sale, transactionDetails: { amount: '150.00', currencyCode: 949 } };
  await notebook.watch('startHosted otherwise', () => payments.startHosted(dearer));
  return started;
}

/** By which the gateway knows the page that an embedded form is of. */
function sessionIn(html: string): string {
  return /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/.exec(html)![0];
}

/** What the shop and its operators see of it. */
async function look(conversationId: string): Promise<void> {
  const { payments } = merchant;
  await notebook.watch('find', () => payments.find(conversationId));
  await notebook.watch('inquire', () => payments.inquire(conversationId));
  await notebook.watch('auth3d', () => payments.auth3d({ conversationId, fields: { a: '1' } }));
  const { credentials } = simulator;
  const env = {
    PAYMENT_STORE_URL: storeUrl,
    PAYMENT_DIALECT: 'morpos',
    PAYMENT_BASE_URL: simulator.url,
    PAYMENT_MERCHANT_ID: credentials.merchantId,
    PAYMENT_CLIENT_ID: credentials.clientId,
    PAYMENT_CLIENT_SECRET: credentials.clientSecret,
    PAYMENT_API_KEY: credentials.apiKey,
  };
  for (const words of [
    ['show', conversationId],
    ['show', conversationId, '--json'],
    ['list', '--state', 'all'],
  ]) {
    notebook.note('command line', await cliHere(['payments', ...words], { cwd: folder.path, env }));
  }
}

async function noteRows(id: string): Promise<void> {
  const record = await store.find('default', id);
  const kept = record?.redirectUrl;
  notebook.note('record', { ...record, redirectUrl: undefined });
  notebook.note('history', await store.history('default', id));
  // Until it has ended, its record alone holds its page's address, in one field.
  expect([id, kept === undefined]).toEqual([id, record?.state !== 'pending' || !pageOf(id)]);
}

/** Whether it has a page of its own, and no form to embed. */
function pageOf(id: string): boolean {
  return simulator.requests.some(({ operation, text }) => operation === 'hostedPage' && text.includes(id));
}

/** Of the callbacks, as the gateway got them. */
function tokens(): Secret[] {
  const found = simulator.requests.flatMap(({ text }) =>
    [...text.matchAll(/\/payments\/([\w-]{43})\//g)].map(([, token = '']) => token),
  );
  return [...new Set(found)].map((text) => ({ name: 'callback token', text }));
}

function summary(leaks: readonly Leak[]): string[] {
  return [...new Set(leaks.map(({ secret, source, excerpt }) => `${secret}, ${source}: …${excerpt}…`))];
}

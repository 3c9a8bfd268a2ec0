import { inspect } from 'node:util';
import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import type { HttpService } from '@nestjs/axios';
import { Body, Catch, Controller, Get, Injectable, Post } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { EventEmitter2, OnEvent } from '@nestjs/event-emitter';
import { jest } from '@jest/globals';
import {
  CheckoutDto,
  MemoryPaymentStore,
  morposDialect,
  OnPayment,
  OnRefund,
  PAYMENT_HTTP,
  type PaymentEvent,
  PaymentExceptionFilter,
  PaymentOperations,
  PaymentHealth,
  type PaymentOptions,
  PaymentService,
  paymentValidationPipe,
  REFUND_EVENT_STATES,
  type RefundEvent,
  standardDialect,
} from 'nestjs-card-payment';
import {
  JsonNumber,
  type JsonObject,
  type Simulator,
  type SimulatorOperation,
  startSimulator,
  type WireReply,
} from 'nestjs-card-payment/simulator';
import type { Dispatcher } from 'undici';
import { cliHere } from '../cli/cli.js';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';
import { changed, ODD, ODD_NAMES } from '../rigs/odd-answers.js';
import { openedStoreAt } from '../rigs/shared-stores.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { Notebook } from './notebook.js';
import { CARD, CARD_SECRETS, type Leak, type Secret, searchFor } from './secret-search.js';

const ALL_BUT_THE_DATE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];
const HOLDER = { cardHolderName: 'Zeynep Karaağaç', buyerGsm: '+90 543 219 87 65' };
const CREDENTIALS = {
  merchantId: '100200300',
  clientId: 'leak-test-client',
  clientSecret: Buffer.from('a client secret that must stay one').toString('base64'),
  apiKey: 'api/key+that=must;stay-a-secret',
};
const SECRETS: readonly Secret[] = [
  ...CARD_SECRETS,
  { name: 'client secret', text: CREDENTIALS.clientSecret },
  { name: 'API key', text: CREDENTIALS.apiKey },
  { name: 'first name', text: 'Zeynep', isWord: true },
  { name: 'last name', text: 'Karaağaç', isWord: true },
  { name: 'phone', text: '905432198765' },
  { name: 'bank page', text: 'Bankanızın doğrulama sayfasına yönlendiriliyorsunuz.' },
];
/** What the application may show, to check that the search looks wherever it is shown. */
const CANARIES = {
  order: 'canary-of-the-order',
  gateway: 'bunu ağ geçidi söyledi',
  handler: 'canary-of-the-handler',
  shop: '/canary-of-the-shop',
  mask: '524677******3508',
  report: 'backgroundIdleMs',
  openPage: 'page_open',
  cardQuestion: 'card_payment.checkBin',
};
type Canary = keyof typeof CANARIES;
/** Every place that keeps or shows something, and what of the canaries has to be found there. */
const SINKS: [sink: string, ...canaries: Canary[]][] = [
  ['rows', 'order', 'gateway', 'handler', 'mask'],
  ['log', 'order', 'handler'],
  ['awaited event', 'order', 'gateway', 'mask'],
  ['plain event payment.succeeded', 'order', 'gateway'],
  ['operations', 'order', 'gateway', 'handler'],
  ['spans and metrics', 'handler', 'cardQuestion'],
  ['health', 'report'],
  ['service', 'shop'],
  ['callback: headers', 'shop'],
  ...['refund', 'void', 'recordRefund', 'resolveRefund', 'checkBin', 'attack', 'error'].map((asked): [string] => [
    `${asked}:`,
  ]),
  ['abandon:'],
  ['record'],
  ['POST pay: page', 'order', 'gateway'],
  ['doPayment: result', 'order', 'gateway'],
  ['doPayment: error', 'order'],
  ['find: result', 'order', 'gateway', 'mask'],
  ['startHosted again: error', 'openPage'],
  ['payments list', 'order'],
  ['payments show', 'mask'],
  ['payments export', 'order'],
];

/** What the host's own code may put into an error. The names it was given are known to it alone. */
const SAID = `${CARD.cardNo}, 5246 7763-5690 3508, ${CARD.cvv}, ${CARD.expDate}, ${HOLDER.buyerGsm}, ${CREDENTIALS.apiKey}`;
const fail = (): never => {
  throw Object.assign(new TypeError(SAID, { cause: new Error(SAID) }), { body: SAID });
};

/** Takes the request, and fails while the answer comes. */
const loseAnswer: Dispatcher['dispatch'] = ({ body }, handler) => {
  const controller = { abort: () => undefined } as never;
  handler.onRequestStart?.(controller, {});
  for (const _part of body as unknown as Iterable<Buffer>);
  handler.onResponseError?.(controller, Object.assign(new Error(SAID), { body: SAID }));
  return true;
};

/** Answers before whose request the card was seen; the others come long after it. */
const WITH_CARD: ReadonlySet<SimulatorOperation> = new Set(['DoPayment', 'Init3d']);
const DECLINED_CARD = '4111111111111111';
/** On each form that the simulator gives to be embedded, with the session of its page. */
const FORM_PATH = 'EmbeddedPayment/processPayment';
const SESSION = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;
const IDS = ['orderId', 'paymentId', 'bankUniqueReferenceNumber', 'authCode', 'transactionDate', 'conversationId'];
const TEXTS = ['message', 'Message', 'resultDescription', 'responseDescription', 'bankName', 'cardBrand'];
const CODES = ['code', 'resultCode', 'responseCode', 'Code'];

let notebook: Notebook;

@Injectable()
class Handlers {
  @OnPayment(['succeeded', 'failed', 'unknown', 'review', 'expired'], { id: 'auditor' })
  audit(event: PaymentEvent): void {
    notebook.note('awaited event', event);
  }

  @OnRefund(REFUND_EVENT_STATES, { id: 'auditor' })
  auditRefund(event: RefundEvent): void {
    notebook.note('awaited event of a refund', event);
  }

  @OnPayment('succeeded', { id: CANARIES.handler })
  clumsy(): never {
    return fail();
  }

  @OnEvent('payment.succeeded', { suppressErrors: false })
  listen(): never {
    return fail();
  }
}

/** Answers the errors of the shop, too, and of parsers. */
@Catch()
class EveryErrorFilter extends PaymentExceptionFilter {}

const EVERY_ERROR = { provide: APP_FILTER, useClass: EveryErrorFilter };

@Controller('shop')
class ShopController {
  constructor(private readonly payments: PaymentService) {}

  @Post('pay')
  pay(@Body() body: never): Promise<unknown> {
    return this.payments.doPayment(body);
  }

  @Post('start')
  async start(@Body() body: never): Promise<unknown> {
    return (await this.payments.init3d(body)).payment;
  }

  @Post('form')
  form(@Body(paymentValidationPipe()) checkout: CheckoutDto): string {
    return inspect(checkout.cardDetails);
  }

  @Get('broken')
  broken(): never {
    return fail();
  }
}

/** A store whose driver puts card and credentials into its errors. */
class TalkativeStore extends MemoryPaymentStore {
  failing = '';

  constructor() {
    super();
    return new Proxy(this, {
      get: (store, name, self) => {
        const member: unknown = Reflect.get(store, name, self);
        if (name !== store.failing) return member;
        return () => Promise.reject(Object.assign(new Error(SAID), { query: SAID, password: CREDENTIALS.apiKey }));
      },
    });
  }
}

describe('an attacker plants secrets in every answer, input and error of the host', () => {
  const merchants: Merchant[] = [];
  let folder: ReturnType<typeof makeScratchFolder>;
  let recorder: TelemetryRecorder;
  let simulator: Simulator;
  let shop: Merchant;
  let storeUrl: string;
  /** What lets its holder pay at a page of the gateway's own. */
  const pageSecrets: Secret[] = [];
  const pageIds: string[] = [];

  beforeAll(async () => {
    notebook = new Notebook();
    recorder = new TelemetryRecorder().start();
    folder = makeScratchFolder('leaks');
    storeUrl = `sqlite:${folder.path}/payments.db`;
    simulator = await startSimulator({ dialect: 'morpos', credentials: CREDENTIALS, inquiryKnowsRefunds: true });
    notebook.listen();
    shop = await start();
  });
  afterAll(async () => {
    notebook.stop();
    recorder.stop();
    await simulator.close();
    folder.remove();
  });

  async function start(options: PaymentOptions = {}): Promise<Merchant> {
    const merchant = await startMerchant('express', simulator, {
      options: { storeUrl, background: false, timeoutMs: 5_000, successUrl: CANARIES.shop, ...options },
      structure: { callback: { waitMs: 500 } },
      metadata: { providers: [Handlers, EVERY_ERROR], controllers: [ShopController] },
      override: (builder) => builder.setLogger(notebook.logger),
      application: { logger: notebook.logger },
    });
    merchant.app
      .get(EventEmitter2)
      .onAny((name, event: unknown) => notebook.note(`plain event ${String(name)}`, event));
    merchants.push(merchant);
    return merchant;
  }

  const order = (more: object = {}) => sale('149.90', { cardDetails: { ...CARD }, cardHolderInfo: HOLDER, ...more });

  /** A payment of each kind, and what is shown of it. */
  async function buy(merchant: Merchant, more: object = {}): Promise<void> {
    await payDirectly(merchant, more);
    await payBy3d(merchant, more);
  }

  async function payDirectly({ payments }: Merchant, more: object = {}): Promise<void> {
    const paid = await notebook.watch('doPayment', () => payments.doPayment(order(more)));
    if (paid) await look(payments, paid.conversationId);
  }

  async function payBy3d({ payments, url }: Merchant, more: object = {}): Promise<void> {
    const started = await notebook.watch('init3d', async () => (await payments.init3d(order(more))).payment);
    if (!started) return;
    const { request } = simulator.approve(started.conversationId);
    await notebook.page('callback', request.url.replace(/^http:\/\/[^/]+/, url), request);
    await look(payments, started.conversationId);
  }

  async function look(payments: PaymentService, conversationId: string): Promise<void> {
    await notebook.watch('inquire', () => payments.inquire(conversationId));
    await notebook.watch('find', () => payments.find(conversationId));
  }

  /** A refund or a void of a payment of its own. */
  async function giveBack(operation: 'refund' | 'void'): Promise<void> {
    const { payments } = shop;
    const { conversationId } = await payments.doPayment(order());
    await notebook.watch(operation, () => payments[operation]({ conversationId }));
    for (const { refundId } of (await notebook.watch('refunds', () => payments.refunds(conversationId))) ?? []) {
      await notebook.watch('inquireRefund', () => payments.inquireRefund(refundId));
      await notebook.watch('resolveRefund', () => payments.resolveRefund(refundId, 'failed', SAID, { by: SAID }));
    }
  }

  /** What an answer to the operation may repeat: as it was sent, spaced, and in a sentence. */
  function plants(operation: SimulatorOperation): string[] {
    const sent = simulator.requests.at(-1);
    const sign = /"sign":"([^"]+)"/.exec(sent?.text ?? '')?.[1] ?? '';
    const header = String(sent?.headers['x-clientsecret']);
    const lasting = [CARD.cardNo, '5246 7763-5690 3508', CREDENTIALS.clientSecret, CREDENTIALS.apiKey, sign, header];
    const { cardHolderName, buyerGsm } = HOLDER;
    const early = [CARD.cvv, CARD.expDate, '12/30', cardHolderName, 'ZEYNEP', buyerGsm, '905432198765'];
    const all = WITH_CARD.has(operation) ? [...lasting, ...early] : lasting;
    // The card is typed at the gateway, and is never seen here.
    if (operation === 'hostedPage' || operation === 'CheckBin') return lasting.slice(2);
    return [...all, `Kart ${all.join(', ')} reddedildi`];
  }

  /** Puts the text into each field. */
  function plantIn(fields: JsonObject, text: string, isCodePlanted: boolean): void {
    for (const [name, value] of Object.entries(fields)) {
      // An amount of as many digits as the security code is an amount.
      const isAmount = /amount|rate/i.test(name) && text.length < 8;
      const isLeaf = typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber;
      if (!isLeaf) plantIn(value, text, true);
      else if (!isAmount && (isCodePlanted || !CODES.includes(name))) fields[name] = text;
    }
    for (const name of [...IDS, ...TEXTS]) fields[name] = text;
  }

  it.each<[SimulatorOperation, act: () => Promise<unknown>]>([
    ['DoPayment', () => payDirectly(shop)],
    ['Init3d', () => payBy3d(shop)],
    ['Auth3d', () => payBy3d(shop)],
    [
      'CheckPayment',
      () => {
        simulator.fail({ operation: 'DoPayment', kind: 'reset' });
        return payDirectly(shop);
      },
    ],
    ['refund', () => giveBack('refund')],
    ['void', () => giveBack('void')],
    // Its answers are kept for a minute, so each question is about another card.
    ['CheckBin', () => notebook.watch('checkBin', () => shop.payments.checkBin(String((bins += 1))))],
    ['hostedPage', () => notebook.watch('startHosted', () => shop.payments.startHosted(page()))],
  ])('every field of every answer to %s', async (operation, act) => {
    await act();
    for (const index of plants(operation).keys()) {
      const told = (): string => plants(operation)[index] ?? '';
      const refuseAccess = (reply: WireReply): WireReply => {
        return { ...reply, status: 401, headers: {}, body: Buffer.from(JSON.stringify({ Code: told() })) };
      };
      const refuse = (reply: WireReply): WireReply => {
        const body = Buffer.from(JSON.stringify({ Code: 'RVV0000999999', Message: told(), Details: told() }));
        return { ...reply, status: 400, headers: {}, body };
      };
      for (const fault of [
        simulator.fail({ operation, times: 9, kind: 'edit', edit: (fields) => plantIn(fields, told(), true) }),
        simulator.fail({ operation, times: 9, kind: 'edit', edit: (fields) => plantIn(fields, told(), false) }),
        simulator.fail({ operation, times: 9, ...changed(refuse) }),
        simulator.fail({ operation, times: 9, ...changed(refuseAccess) }),
      ]) {
        await act();
        fault.release();
        expect(fault.timesPlayed).toBeGreaterThan(0);
      }
    }
    await shop.payments.reconcile();
  });

  it('every field of every input', async () => {
    const { payments, url } = shop;
    const full = {
      ...order(),
      idempotencyKey: 'key',
      returnUrl: 'https://shop.example',
      failUrl: 'https://shop.example',
    };
    const inputs = [SAID, [CARD], { cardDetails: [CARD] }, ...withEach(full, SAID), ...withEach(full, CARD.cardNo)];
    inputs.push({ ...full, [CARD.cardNo]: CARD.cvv }, { ...full, cardDetails: { ...CARD, [CARD.cardNo]: CARD.cvv } });
    for (const input of inputs) {
      await notebook.watch('doPayment', () => payments.doPayment(input as never));
      await notebook.watch('init3d', async () => (await payments.init3d(input as never)).payment);
      for (const path of ['pay', 'start', 'form'])
        await notebook.page(`POST ${path}`, `${url}/shop/${path}`, json(input));
    }
    // What it returns holds the digits that it was given: it is searched for nowhere else.
    await payments.checkBin(CARD.cardNo.slice(0, 8));
    for (const told of [SAID, CARD.cardNo]) {
      const { conversationId } = await payments.doPayment(order());
      const refund = { conversationId, amount: '1.00', refundId: 'R', idempotencyKey: 'key', note: 'x', by: 'x' };
      const kept = { conversationId, amount: '1.00', idempotencyKey: `panel ${conversationId}`, note: told, by: told };
      for (const input of [...withEach(refund, told), kept]) {
        await notebook.watch('refund', () => payments.refund(input as never));
        await notebook.watch('recordRefund', () => payments.recordRefund(input as never));
      }
      await notebook.watch('checkBin', () => payments.checkBin(told));
      await notebook.watch('find', () => payments.find(told));
      await notebook.watch('resolve', () => payments.resolve(conversationId, 'failed', told, { by: told }));
    }
  });

  it('every field of a callback', async () => {
    const { payments, url } = shop;
    const { payment } = await payments.init3d(order());
    const { conversationId } = payment;
    const { request } = simulator.approve(conversationId);
    const { cardNo, cvv } = CARD;
    const attacks = [
      json({ conversationId: cardNo, cvv, [cardNo]: [cardNo], InstrumentDetail: { [cardNo]: { cvv: [cardNo] } } }),
      { method: 'POST', body: new URLSearchParams({ conversationId: cardNo, Message: SAID }) },
      { method: 'POST', body: `{"cardNo":"${cardNo}`, headers: { 'content-type': 'application/json' } },
    ];
    for (const target of [request.url, `${url}/payments/${cardNo}/return`, `${request.url}?cardNo=${cardNo}`]) {
      for (const attack of attacks) await notebook.page('attack', target, attack);
    }
    await notebook.watch('auth3d', () =>
      payments.auth3d({ conversationId, fields: { cardNo, conversationId: cardNo } }),
    );
    await notebook.page('callback', request.url, request);
  });

  it('every error that the host’s code throws', async () => {
    const broken = {
      method: 'POST',
      body: `{"cardNo":${CARD.cardNo}x`,
      headers: { 'content-type': 'application/json' },
    };
    for (const accept of ['application/json', 'text/html']) {
      const headers = { ...broken.headers, accept };
      await notebook.page('error', `${shop.url}/shop/broken`, { headers });
      for (const path of ['pay', 'form'])
        await notebook.page('error', `${shop.url}/shop/${path}`, { ...broken, headers });
    }
    const own = morposDialect();
    const { doPayment, init3d, auth3d } = own.operations;
    const operations = Object.fromEntries(
      Object.entries({ doPayment, init3d, auth3d }).map(([name, operation]) => [name, { ...operation, read: fail }]),
    );
    const merchantsOf: (() => Promise<Merchant>)[] = [
      () => start({ dialect: { ...own, operations: { ...own.operations, ...operations } } }),
      () => start({ dialect: { ...own, headers: fail } }),
      () => start({ dialect: standardDialect({ signer: () => Promise.reject(new Error(SAID)) }) }),
      () => start({ dispatcher: { dispatch: fail } as unknown as Dispatcher }),
      () => start({ dispatcher: { dispatch: loseAnswer } as unknown as Dispatcher }),
      () => start({ baseUrl: 'http://127.0.0.1:9', connectTimeoutMs: 500 }),
      () => start({ beforeAuth3d: fail }),
      () => start({ successUrl: fail, failureUrl: fail }),
      async () => {
        const merchant = await start();
        const { interceptors } = merchant.app.get<HttpService>(PAYMENT_HTTP).axiosRef;
        interceptors.response.use(fail, fail);
        return merchant;
      },
    ];
    for (const merchant of merchantsOf) await buy(await merchant());
  });

  it('every error of a store’s driver', async () => {
    const store = new TalkativeStore();
    const merchant = await start({ store });
    for (const method of ['insert', 'replace', 'find', 'leaseDue', 'leaseDeliveries', 'acknowledge']) {
      store.failing = method;
      await buy(merchant);
      await notebook.watch('reconcile', () => merchant.payments.reconcile());
      store.failing = '';
      await notebook.watch('reconcile', () => merchant.payments.reconcile());
    }
  });

  it.each(['page', 'embedded'] as const)(
    'pages of the gateway (%s) that are paid, given up or left open',
    async (form) => {
      const { payments } = shop;
      const paid = await openPage(form);
      const declined = await openPage(form);
      for (const { request } of [simulator.payAtPage(paid), simulator.payAtPage(declined, { cardNo: DECLINED_CARD })]) {
        await notebook.page('callback', request.url, request);
        await notebook.page('callback', request.url, request);
        const foreign = { method: 'POST', body: new URLSearchParams({ conversationId: 'A1' }) };
        await notebook.page('attack', request.url, foreign);
      }
      await notebook.watch('abandon', async () => payments.abandon(await openPage(form)));
      await openPage(form);
      for (const conversationId of pageIds) {
        await notebook.watch('inquire', () => payments.inquire(conversationId));
        await notebook.watch('find', () => payments.find(conversationId));
        await notebook.watch('auth3d', () => payments.auth3d({ conversationId, fields: { a: '1' } }));
      }
      for (const name of ODD_NAMES) {
        simulator.fail({ operation: 'hostedPage', ...ODD[name] });
        await notebook.watch('startHosted', async () => (await payments.startHosted(page({ form }))).payment);
      }
      await notebook.watch('reconcile', () => payments.reconcile());
    },
  );

  /** What the merchant gets is for the buyer alone; all else is searched. */
  async function openPage(form: 'page' | 'embedded'): Promise<string> {
    const { payments } = shop;
    const sale = page({ form });
    const { redirectUrl, html, conversationId, ...shown } = await payments.startHosted(sale);
    notebook.note('startHosted: result', { conversationId, ...shown });
    pageIds.push(conversationId);
    if (redirectUrl) pageSecrets.push({ name: 'page', text: redirectUrl.split('/').at(-1)! });
    if (html) pageSecrets.push({ name: 'form', text: SESSION.exec(html)![0] }, { name: 'form', text: FORM_PATH });
    const otherForm = form === 'page' ? 'embedded' : 'page';
    const dearer = { amount: '150.00', currencyCode: 949 };
    for (const more of [{}, { form: otherForm }, { transactionDetails: dearer }] as const) {
      await notebook.watch('startHosted again', async () => (await payments.startHosted({ ...sale, ...more })).payment);
    }
    return conversationId;
  }

  it('a text that the search has to find', async () => {
    const edit = (fields: JsonObject): void => void (fields['message'] = CANARIES.gateway);
    for (const operation of ['DoPayment', 'Auth3d'] as const)
      simulator.fail({ operation, times: 3, kind: 'edit', edit });
    const reference = { reference: CANARIES.order, allowRepeat: true };
    await buy(shop, reference);
    for (const allowRepeat of [false, false]) {
      await notebook.watch('doPayment', () => shop.payments.doPayment(order({ ...reference, allowRepeat })));
    }
    await notebook.page('POST pay', `${shop.url}/shop/pay`, json(order(reference)));
    await notebook.watch('reconcile', () => shop.payments.reconcile());
  });

  it('and finds none in any row, log, error, event, page, metric, export or printed object', async () => {
    await notebook.watch('health', () => shop.app.get(PaymentHealth).report());
    for (const text of await recorder.texts()) notebook.note('spans and metrics', text);
    notebook.note('service', inspect(shop.payments, { depth: 20, showHidden: true }));
    const operations = shop.app.get(PaymentOperations);
    const ids = new Set<string>(pageIds);
    for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const listed = await operations.list({ limit: 100, after });
      notebook.note('operations', listed);
      for (const { conversationId } of listed.payments) ids.add(conversationId);
      after = listed.next;
    }
    notebook.note('operations', await operations.listRefunds({ limit: 100 }));
    for (const parked of [true, false])
      notebook.note('operations', await operations.deliveries({ limit: 100, parked }));
    for (const id of [...ids].slice(0, 60)) notebook.note('operations', await operations.history(id));
    await notePagesRecords();
    const env = { PAYMENT_STORE_URL: storeUrl, PAYMENT_DIALECT: 'morpos' };
    const [from, to] = [-86_400_000, 1_000].map((ms) => new Date(Date.now() + ms).toISOString());
    const period = ['--from', `${from}`, '--to', `${to}`];
    // A period is exported once it has been over for a minute.
    jest.useFakeTimers({ now: Date.now() + 120_000, doNotFake: ALL_BUT_THE_DATE });
    for (const words of [
      ['list', '--state', 'all', '--limit', '1000'],
      ...['csv', 'json'].map((format) => ['export', ...period, '--state', 'all', '--format', format]),
      ...pageIds.flatMap((id) => [
        ['show', id],
        ['show', id, '--json'],
      ]),
      ['show', [...ids].at(-1)!],
    ]) {
      const shown = await cliHere(['payments', ...words], { cwd: folder.path, env });
      expect([words, shown.status, shown.stderr]).toEqual([words, 0, expect.any(String)]);
      notebook.note(`payments ${words[0]}`, shown.stdout);
    }
    jest.useRealTimers();
    for (const { app } of merchants) await app.close();
    // Binary or not: what is text in a file stays text.
    for (const file of readdirSync(folder.path)) notebook.note('rows', readFileSync(join(folder.path, file), 'utf8'));

    expect(sent().filter(({ name }) => name === 'token').length).toBeGreaterThan(10);
    expect(pageSecrets.length).toBeGreaterThan(10);
    expect(summary(searchFor([...SECRETS, ...sent()], notebook.evidence))).toEqual([]);
    // A row holds its page's address, and keeps it in the file after it has been deleted.
    const besidesRows = notebook.evidence.filter(({ source }) => source !== 'rows');
    expect(summary(searchFor(pageSecrets, besidesRows))).toEqual([]);
  }, 120_000);

  /** Until it has ended, a payment's record alone holds its page's address, in one field. */
  async function notePagesRecords(): Promise<void> {
    const store = await openedStoreAt(storeUrl);
    const states = new Set<string>();
    for (const id of pageIds) {
      const { redirectUrl, ...record } = (await store.find('default', id))!;
      states.add(record.state);
      notebook.note('record', record);
      const hasPage = simulator.requests.some(({ operation, text }) => operation === 'hostedPage' && text.includes(id));
      expect([id, redirectUrl !== undefined]).toEqual([id, hasPage && record.state === 'pending']);
    }
    expect(states).toEqual(new Set(['succeeded', 'pending', 'expired']));
    await store.close();
  }

  it.each(SINKS)('but finds what was planted to be found: %s', (sink, ...canaries) => {
    const evidence = byItself(notebook).filter(({ source }) => source.replace(/^\d+ /, '').startsWith(sink));
    expect(evidence).not.toEqual([]);
    const found = canaries.filter((name) => searchFor([{ name, text: CANARIES[name] }], evidence).length > 0);
    expect(found).toEqual(canaries);
  });

  it('and would find each secret in a log line, a page, an error, an event and a row', async () => {
    for (const secret of [...SECRETS, ...sent().slice(0, 3), ...pageSecrets.slice(0, 3)]) {
      const planting = new Notebook();
      planting.logger.log({ deep: { [secret.name]: secret.text } });
      planting.note('event', { payment: { message: `x ${secret.text} x` } });
      const spaced = secret.isWord ? secret.text : [...secret.text].join(' ');
      planting.note('row', `\u0000{"message":"${spaced}"}\u0001`);
      await planting.watch('error', () => Promise.reject(Object.assign(new Error('x'), { detail: [secret.text] })));
      const sources = new Set(
        searchFor([secret], byItself(planting)).map(({ source }) => source.replace(/^\d+ |: .*/g, '')),
      );
      expect([secret.name, ...sources]).toEqual([secret.name, 'log', 'event', 'row', 'error']);
    }
  });

  /** What is known only once it was sent: signs, the client secret as it goes out, and the tokens of callbacks. */
  function sent(): Secret[] {
    const found = new Map<string, string>();
    for (const { text, headers } of simulator.requests) {
      found.set(String(headers['x-clientsecret'] ?? ''), 'sent secret');
      for (const [, sign] of text.matchAll(/"sign":"([^"]+)"/g)) found.set(sign!, 'sign');
      for (const [, token] of text.matchAll(/\/payments\/([\w-]{20,})\//g)) found.set(token!, 'token');
    }
    const isOwn = (text: string): boolean => text.length >= 20 && !SAID.includes(text);
    return Array.from(found, ([text, name]) => ({ name, text })).filter(({ text }) => isOwn(text));
  }
});

let pages = 0;
let bins = 100_000;

/** A sale at the gateway's own page. */
function page(more: { readonly form?: 'page' | 'embedded' } = {}) {
  pages += 1;
  return { reference: `page-${pages}`, transactionDetails: { amount: '149.90', currencyCode: 949 }, ...more };
}

function summary(leaks: readonly Leak[]): string[] {
  return [...new Set(leaks.map(({ secret, source, excerpt }) => `${secret}, ${source}: …${excerpt}…`))];
}

/** Copies of an input, each with the text in place of one field. */
function withEach(input: object, text: string): object[] {
  return Object.entries(input).flatMap(([name, value]: [string, unknown]): object[] => {
    const parts = typeof value === 'object' && value !== null ? withEach(value, text) : [];
    return [text, ...parts].map((part) => ({ ...input, [name]: part }));
  });
}

/** Evidence of equal texts is searched once: here each piece is told from the others. */
function byItself({ evidence }: Notebook): Notebook['evidence'] {
  return evidence.map(({ source, text }, index) => ({ source: `${index} ${source}`, text: `${text}\n${index}` }));
}

function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

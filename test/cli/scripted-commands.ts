import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { OnPayment, type Payment, type PaymentService } from 'nestjs-card-payment';
import { type FaultOptions, type FaultPlay, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { aPaymentEvent } from 'nestjs-card-payment/testing';
import { type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import { saleText } from '../../lib/payment/refund.js';
import { advance } from '../../lib/payment/transitions.js';
import { SystemClock } from '../../lib/runtime/clock.js';
import { openStore } from '../../lib/store/open-store.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { paymentSchema } from '../../lib/store/sql/schema.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { ODD } from '../rigs/odd-answers.js';
import type { Script } from '../rigs/played-scripts.js';
import { sale } from '../rigs/sale.js';
import { type Shop, startShop } from '../rigs/shop.js';
import { accountAt, variablesOf } from '../rigs/simulated-gateway.js';
import { type Listener, listen } from '../rigs/sockets.js';
import { makeScratchFolder, type ScratchFolder } from '../rigs/scratch-folder.js';
import { cliHere } from './cli.js';

/** The clock of the gateway. That of the shop and of the command line is the real one. */
const NOON = new Date('2026-03-01T09:00:00Z');
const SECRETS = /geheim|Z2VoZWlt|client-secret/;
const CLIENT_SECRET = Buffer.from('client-secret').toString('base64');
/** But for line ends: those that control a terminal, or turn its text around. */
const CONTROLS = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const STORE = 'payments.sqlite';
const RANDOM_ID = /\b[0-9A-HJKMNP-TV-Z]{20}\b/g;
const WHOLE_NUMBERS = ['currencyCode', 'installmentCount'];
const DAY_MS = 86_400_000;

class Orders {
  readonly paid: string[] = [];

  @OnPayment('succeeded', { id: 'orders' })
  markPaid({ payment }: { payment: Payment }): void {
    this.paid.push(payment.conversationId);
  }
}

type Step = (words: readonly string[], named: Readonly<Record<string, string>>) => unknown;

/**
 * A folder with settings, a store and a gateway, in which commands are typed, and what is seen of them: below each
 * command what it prints on standard output; after `!` what it prints on standard error; what the gateway was asked;
 * which files it wrote; and the exit status, unless it is 0. Ids that are made at random are numbered.
 */
export class ScriptedCommands {
  private readonly lines: string[] = [];
  private readonly place: ScratchFolder = makeScratchFolder('cli');
  /** The actual ids of `REFUND00000000000001` and so on. */
  private readonly made = new Map<string, string>();
  private readonly orders = new Orders();
  private readonly servers: Listener[] = [];
  private shop: Shop | null = null;
  private store: PaymentStore | null = null;
  private meanwhile: (() => Promise<unknown>) | null = null;
  private web = '';

  private constructor(
    private readonly script: Script,
    private readonly simulator: Simulator,
  ) {}

  static async play(script: Script): Promise<string> {
    const { merchantId, apiKey } = { merchantId: 'M-100200', apiKey: 'the-api-key' };
    const simulator = await startSimulator({
      ...{ dialect: 'morpos', inquiryKnowsRefunds: true, clock: () => NOON, timestampToleranceMs: Infinity },
      credentials: { merchantId, apiKey, clientId: 'client-1', clientSecret: CLIENT_SECRET },
    });
    const commands = new ScriptedCommands(script, simulator);
    try {
      commands.lines.push(script.title);
      for (const step of script.steps) await commands.take(step);
      commands.lookBack();
      return commands.lines.map((line) => line.trimEnd()).join('\n');
    } finally {
      await commands.store?.close();
      await commands.shop?.app.close();
      for (const server of commands.servers) await server.close();
      await simulator.close();
      commands.place.remove();
    }
  }

  private readonly steps: Readonly<Record<string, Step>> = {
    /** `pay ID AMOUNT` */
    pay: async ([conversationId = '', amount]) => {
      const { state } = await (
        await this.payments()
      ).doPayment({ ...sale(amount, { conversationId }), reference: 'order-1', allowRepeat: true });
      return state;
    },
    /** `page ID`: a payment at the gateway's own page. */
    page: async ([conversationId = '']) => {
      const details = { amount: '149.90', currencyCode: 949 };
      const sale = { conversationId, reference: 'order-1', transactionDetails: details };
      await (await this.payments()).startHosted(sale);
    },
    payAtPage: ([id = '']) => void this.simulator.payAtPage(id, { callback: 'none' }),
    refund: async ([conversationId = '', amount = '']) => {
      await (await this.payments()).refund({ conversationId, amount });
    },
    /** What the shop does as soon as the next command asks. */
    meanwhile: ([step = '', ...words]) => void (this.meanwhile = async () => await this.steps[step]!(words, {})),
    /** `gateway DoPayment close`, `gateway CheckPayment 503` */
    gateway: ([operation, kind = '']) => {
      const odd = (ODD as Readonly<Record<string, FaultPlay>>)[kind];
      const play = /^\d+$/.test(kind) ? { kind: 'status', status: Number(kind) } : (odd ?? { kind });
      this.simulator.fail({ operation, ...play } as FaultOptions);
    },
    reconcile: async () => {
      await (await this.payments()).reconcile();
      return `orders heard of ${this.orders.paid.join(', ') || 'nothing'}`;
    },

    /** `stored ID state=review finalizedAt=2025-11-10T09:00:00Z`: a record, with everything else as usual. */
    stored: async ([conversationId = ''], named) => this.insert(recordOf({ conversationId, ...named })),
    /** `storedRefund ID of SALE amount=10.00` */
    storedRefund: async ([id = '', , saleId = ''], named) => {
      const sale = (await (await this.opened()).find('default', saleId))!;
      const { reference, createdAt, finalizedAt } = sale;
      const parent = {
        kind: 'refund',
        parentId: saleId,
        referenceLock: null,
        sale: saleText(toPayment(sale)),
      } as const;
      const at = { createdAt, updatedAt: createdAt, finalizedAt };
      await this.insert(recordOf({ conversationId: id, ...named }, { ...parent, reference, amount: '10.00', ...at }));
    },
    /** One whose process claimed it two minutes ago, and may only have been suspended. */
    interrupted: async ([conversationId = '']) => {
      const claimed = new Date(Date.now() - 120_000);
      const record = aPaymentRecord({ state: 'charging', conversationId, createdAt: claimed, updatedAt: claimed });
      await this.insert(record);
      const unknown = advance(record, 'unknown', { reason: 'interrupted' }, new Date());
      await (await this.opened()).replace(unknown, record);
    },
    /** `settled ID`: by an operator, of whatever the gateway said of it. */
    settled: async ([id = '']) => {
      const store = await this.opened();
      const record = (await store.find('default', id))!;
      const change = { state: 'succeeded', reason: 'operator', finalizedAt: record.createdAt } as const;
      await store.replace({ ...record, ...change, version: record.version + 1 }, record);
    },
    parked: async ([error = 'Error: no mail', id]) => park(await this.opened(), error, id),

    file: ([name = '', text = '']) => writeFileSync(join(this.folder, name), text),
    folder: ([name = '']) => void mkdirSync(join(this.folder, name)),
    link: ([name = '', to = '']) => symlinkSync(join(this.folder, to), join(this.folder, name)),
    /** `database NAME "create table orders (id text)"`, or the tables of the module and then that. */
    database: ([name = '', sql = ''], { tables }) => {
      const database = new Database(join(this.folder, name));
      if (tables !== undefined) database.pragma('journal_mode = WAL');
      database.exec(`${tables === undefined ? '' : paymentSchema('sqlite')}; ${sql}`).close();
    },
    cat: ([name = '']) => {
      const path = join(this.folder, name);
      return `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`;
    },
    /** A server on the host WEB that gives this answer. */
    web: async ([status = '', text = '']) => {
      const server = createServer((_request, response) => response.writeHead(Number(status)).end(text));
      const listener = await listen(server);
      this.servers.push(listener);
      this.web = `127.0.0.1:${listener.port}`;
    },
  };

  private async take(step: string): Promise<void> {
    this.lines.push(`  ${step}`);
    const meant = this.actual(step);
    if (meant.startsWith('$')) return this.type(meant.slice('$'.length).trim());
    const [verb = '', ...words] = wordsOf(meant);
    const named = words
      .filter((word) => /^[a-z]\w*=/.test(word))
      .map((word) => [word.split('=', 1)[0], word.replace(/^\w+=/, '')]);
    const others = words.filter((word) => !/^[a-z]\w*=/.test(word));
    const result = await this.steps[verb]!(others, Object.fromEntries(named) as Record<string, string>);
    if (typeof result === 'string') this.show(result);
  }

  /** `payments list`; `A=B payments list`, with a variable; `env -i A=B payments list`, with no others. */
  private async type(line: string): Promise<void> {
    const [, command = '', typed] = /^(.*?)(?: << ?(.*))?$/.exec(line) ?? [];
    const words = wordsOf(command);
    const isBare = words[0] === 'env';
    if (isBare) words.splice(0, 2);
    const named = words.findIndex((word) => !/^\w+=/.test(word));
    const variables = words
      .splice(0, named < 0 ? words.length : named)
      .map((word) => [word.split('=', 1)[0], word.replace(/^\w+=/, '')]);
    const env = { ...(!isBare && this.settings), ...(Object.fromEntries(variables) as Record<string, string>) };
    const { requests } = this.simulator;
    const [asked, files] = [requests.length, this.files()];
    const answer = async () => {
      await this.meanwhile?.();
      return typed ?? '';
    };
    const options = { cwd: this.folder, env, ...(typed !== undefined && { typed: answer }) };
    const { status, stdout, stderr } = await cliHere(words, options);
    expect(stdout + stderr).not.toMatch(SECRETS);
    this.show(stdout);
    this.show(stderr, '! ');
    const others = requests.slice(asked).map(({ operation, path }) => operation ?? path);
    if (others.length > 0) this.show(`the gateway was asked for ${others.join(', ')}`, '> ');
    const written = Object.entries(this.files()).filter(([name, hash]) => files[name] !== hash);
    if (written.length > 0) this.show(`written: ${written.map(([name]) => name).join(', ')}`, '> ');
    if (status !== 0) this.show(`exit status ${status}`, '> ');
  }

  private show(text: string, mark = ''): void {
    const shown = text.replaceAll('\r\n', '\\r\n').replace('\ufeff', '(byte order mark)');
    expect(shown).not.toMatch(CONTROLS);
    for (const id of shown.match(RANDOM_ID) ?? []) {
      if ([...this.made.values()].includes(id) || this.script.steps.some((step) => step.includes(id))) continue;
      this.made.set(`REFUND${String(this.made.size + 1).padStart(14, '0')}`, id);
    }
    for (const line of this.stable(shown).replace(/\n$/, '').split('\n')) {
      if (text !== '') this.lines.push(`    ${mark}${line}`);
    }
  }

  /** The same in each run. */
  private stable(text: string): string {
    const isNow = (time: string) => Math.abs(Date.parse(time) - Date.now()) < DAY_MS;
    const renamed = [...this.made].reduce((all, [name, id]) => all.replaceAll(id, name), text);
    return renamed
      .replaceAll(`127.0.0.1:${this.simulator.port}`, 'GATEWAY')
      .replaceAll(this.web || '\0', 'WEB')
      .replaceAll(/ port (?!1,)\d+/g, ' port PORT')
      .replaceAll(this.folder, 'FOLDER')
      .replaceAll(`"by": "${userInfo().username}"`, '"by": "USER"')
      .replaceAll(/ after \d+ ms/g, ' after N ms')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => (isNow(time) ? 'YYYY-MM-DDThh:mm:ss.mmmZ' : time))
      .replaceAll(/ after \d{7,} s$/gm, ' after N s');
  }

  /** What a step means: with actual ids and addresses. */
  private actual(step: string): string {
    const named = [...this.made].reduce((all, [name, id]) => all.replaceAll(name, id), step);
    return named.replaceAll('WEB', this.web).replaceAll('GATEWAY', this.simulator.url.slice('http://'.length));
  }

  private lookBack(): void {
    if (!this.shop) return;
    const { charges, refunds, violations } = this.simulator.ledger;
    const moved = (all: typeof charges | typeof refunds): string =>
      all.map(({ conversationId, amount }) => `${conversationId} ${amount}`).join(', ') || 'nothing';
    this.lines.push('  afterwards');
    this.show(`charged: ${moved(charges)}\ngiven back: ${moved(refunds)}`);
    expect(violations.filter(({ kind }) => kind !== 'excessive-refund')).toEqual([]);
  }

  private get folder(): string {
    return this.place.path;
  }

  private get storeUrl(): string {
    return `sqlite:${join(this.folder, STORE)}`;
  }

  private get settings() {
    return {
      ...variablesOf(this.simulator),
      PAYMENT_STORE_URL: `sqlite:${STORE}`,
      PAYMENT_PUBLIC_URL: 'http://127.0.0.1:9',
      PAYMENT_TIMEOUT_MS: '5000',
    };
  }

  /** The names in the folder, and what is in the files, but for the store. */
  private files(): Record<string, string> {
    const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
    const names = readdirSync(this.folder, { withFileTypes: true }).filter(
      ({ name }) => !(this.store && name.startsWith(STORE)),
    );
    return Object.fromEntries(names.map((one) => [one.name, one.isFile() ? hash(join(this.folder, one.name)) : '']));
  }

  /** An application that takes payments beside the command line. */
  private async payments(): Promise<PaymentService> {
    await this.opened();
    if (!this.shop) {
      this.shop = await startShop({
        options: { ...accountAt(this.simulator), storeUrl: this.storeUrl, background: false },
        providers: [{ provide: Orders, useValue: this.orders }],
      });
    }
    return this.shop.payments;
  }

  private async opened(): Promise<PaymentStore> {
    const setup = { storeUrl: this.storeUrl, store: null, variable: '', background: false, clock: new SystemClock() };
    return (this.store ??= await openStore(setup));
  }

  private async insert(record: PaymentRecord): Promise<void> {
    expect(await (await this.opened()).insert(record)).toBeNull();
  }
}

/** Words as in a shell, but for what stands in double quotes, which is JSON. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g)].map(([word]) =>
    word.replaceAll(/"(?:\\.|[^"\\])*"/g, (quoted) => JSON.parse(quoted) as string),
  );
}

function recordOf(named: Readonly<Record<string, string>>, more: Partial<PaymentRecord> = {}): PaymentRecord {
  const given = Object.entries(named).map(([name, text]) => [name, valueOf(name, text)] as const);
  const fields = {
    reference: `order-${named['conversationId']}`,
    ...more,
    ...Object.fromEntries(given),
  } as Partial<PaymentRecord>;
  const { finalizedAt: at = null } = fields;
  return aPaymentRecord({ ...(at && { createdAt: at, updatedAt: at }), ...fields });
}

function valueOf(name: string, text: string): unknown {
  if (['null', 'true', 'false'].includes(text)) return JSON.parse(text);
  if (WHOLE_NUMBERS.includes(name)) return Number(text);
  return name.endsWith('At') ? new Date(text) : text;
}

/** Parks a delivery of a payment's event. */
async function park(store: PaymentStore, error: string, conversationId = 'MAILED'): Promise<void> {
  const mailed = { conversationId, reference: `order-${conversationId}` };
  await store.announce('default', [{ handlerId: 'mail', type: 'payment.succeeded' }]);
  await store.insert(aPaymentRecord(mailed), aPaymentEvent(mailed));
  await store.fanOut('default', 10);
  const lease = 'lease';
  const request = { account: 'default', handlerId: 'mail', types: ['payment.succeeded'] as const, lease };
  const [delivery] = await store.leaseDeliveries({ ...request, leaseMs: 60_000, limit: 1 });
  const { eventId } = delivery!.event;
  await store.postpone(
    { account: 'default', handlerId: 'mail', eventId, lease },
    { attempts: 12, error, retryInMs: 0, parked: true },
  );
}

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { HttpService } from '@nestjs/axios';
import { Body, Controller, Injectable, Post, UseFilters } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import {
  MemoryPaymentStore,
  OnPayment,
  OnRefund,
  type Payment,
  PAYMENT_HTTP,
  type PaymentEvent,
  PaymentExceptionFilter,
  type PaymentHealth,
  paymentHealthToken,
  type PaymentOptions,
  PaymentService,
  REFUND_EVENT_STATES,
  type RefundEvent,
  standardDialect,
} from 'nestjs-card-payment';
import {
  type FaultOptions,
  type JsonObject,
  type Simulator,
  type SimulatorDialect,
  startSimulator,
} from 'nestjs-card-payment/simulator';
import { Agent, type Dispatcher } from 'undici';
import { type Merchant, type MerchantSetup, sale, startMerchant } from '../e2e/merchant.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { inWhole } from '../rigs/extent.js';
import { changed, ODD, ODD_NAMES } from '../rigs/odd-answers.js';
import { Notebook } from './notebook.js';
import { type Leak, type Secret, searchFor } from './secret-search.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

const CARDS = [
  { cardNo: '5246776356903508', expDate: '1230', cvv: '792' },
  { cardNo: '4691810771946876', expDate: '1148', cvv: '858' },
] as const;
const [DIRECT, THREE_D] = CARDS;
/** Fails Luhn. */
const MISTYPED = '4508034508034581';
const CREDENTIALS = {
  merchantId: '100200300',
  clientId: 'leak-test-client',
  clientSecret: Buffer.from('a client secret that must stay one').toString('base64'),
  apiKey: 'api/key+that=must;stay-a-secret',
};
const SECRETS: Secret[] = [
  ...CARDS.flatMap(({ cardNo, expDate, cvv }): Secret[] => [
    { name: 'card number', text: cardNo },
    { name: 'first eight digits', text: cardNo.slice(0, 8) },
    { name: 'last eight digits', text: cardNo.slice(-8) },
    { name: 'expiry', text: expDate, isShort: true },
    { name: 'security code', text: cvv, isShort: true },
  ]),
  { name: 'mistyped card number', text: MISTYPED },
  { name: 'client secret', text: CREDENTIALS.clientSecret },
  { name: 'decoded client secret', text: 'a client secret that must stay one' },
  { name: 'API key', text: CREDENTIALS.apiKey },
];

/** A text on the page that Init3d returns. */
const BANK_PAGE: Secret = { name: 'bank page', text: 'Bankanızın doğrulama sayfasına yönlendiriliyorsunuz.' };
/** Placed where the application may show them, to check that the search looks there. */
const PLANTED: Secret = { name: 'planted', text: 'planted-r3f/with+signs=;1' };
const PLANTED_BY_HANDLER: Secret = { name: 'planted by a handler', text: 'this was planted by the clumsy handler' };
const PLANTED_BY_GATEWAY: Secret = { name: 'planted by the gateway', text: 'bunu ağ geçidi söyledi' };
const WAYS_TO_PLANT: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => Buffer.from(`-${text}-`).toString('base64'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => encodeURIComponent(text),
  (text) => text.replaceAll('-', '\\u002d'),
];

let notebook: Notebook;
let simulator: Simulator;

const direct = (amount?: string) => sale(amount, { cardDetails: { ...DIRECT } });
const threeD = (amount?: string) => sale(amount, { cardDetails: { ...THREE_D } });

/** A handler whose errors contain card numbers. */
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

  @OnRefund('succeeded', { id: 'clumsy' })
  @OnPayment(['succeeded', 'failed'], { id: 'clumsy' })
  clumsy(): never {
    throw new Error(
      `mail bounced: card ${DIRECT.cardNo}, or 4691 8107 7194 6876, was charged; ${PLANTED_BY_HANDLER.text}`,
    );
  }
}

@Controller('shop')
@UseFilters(PaymentExceptionFilter)
class ShopController {
  constructor(private readonly payments: PaymentService) {}

  @Post('pay')
  pay(@Body() body: unknown): Promise<Payment> {
    return this.payments.doPayment(body as Parameters<PaymentService['doPayment']>[0]);
  }

  @Post('start')
  async start(@Body() body: unknown): Promise<Payment> {
    return (await this.payments.init3d(body as Parameters<PaymentService['init3d']>[0])).payment;
  }
}

/** A store whose driver puts card and credentials into its errors. */
class TalkativeStore extends MemoryPaymentStore {
  failing = new Set<string>();

  constructor() {
    super();
    return new Proxy(this, {
      get: (store, name, self) => {
        const member: unknown = Reflect.get(store, name, self);
        if (typeof name === 'symbol' || !store.failing.has(name)) return member;
        return () =>
          Promise.reject(
            Object.assign(new Error(`driver: ${DIRECT.cardNo} ${DIRECT.cvv} ${CREDENTIALS.apiKey}`), {
              query: `INSERT '${DIRECT.cardNo}' '${THREE_D.cardNo}'`,
              password: CREDENTIALS.clientSecret,
            }),
          );
      },
    });
  }
}

type Setup = [SimulatorDialect, 'memory' | 'sqlite'];
const SETUPS = inWhole<Setup[]>(
  [
    ['morpos', 'memory'],
    ['morpos', 'sqlite'],
    ['standard', 'sqlite'],
  ],
  [
    ['morpos', 'memory'],
    ['standard', 'sqlite'],
  ],
);

describe.each(SETUPS)('dialect %s, store %s', (dialect, kind) => {
  let folder: string;
  let store: PaymentStore | undefined;
  const merchants: Merchant[] = [];
  const planted: Secret[] = [PLANTED, PLANTED_BY_GATEWAY, PLANTED_BY_HANDLER];
  const agents: Agent[] = [];
  let recorder: TelemetryRecorder;

  beforeAll(async () => {
    notebook = new Notebook();
    recorder = new TelemetryRecorder().start();
    folder = mkdtempSync(join(tmpdir(), 'leaks-'));
    simulator = await startSimulator({ dialect, credentials: CREDENTIALS, inquiryKnowsRefunds: true });
    store = kind === 'memory' ? new MemoryPaymentStore() : undefined;
    notebook.listen();
  });
  afterAll(async () => {
    notebook.stop();
    recorder.stop();
    for (const agent of agents) await agent.destroy();
    await simulator.close();
    rmSync(folder, { recursive: true });
  });

  async function start(options: PaymentOptions = {}, setup: MerchantSetup = {}): Promise<Merchant> {
    const merchant = await startMerchant('express', simulator, {
      ...setup,
      options: {
        ...(store ? { store } : { storeUrl: `sqlite:${join(folder, 'payments.db')}` }),
        ...(dialect === 'standard' && {
          dialect: standardDialect({
            signer: (fields) => createHash('sha256').update(JSON.stringify(fields)).digest('base64'),
          }),
        }),
        background: false,
        timeoutMs: 5_000,
        ...options,
      },
      metadata: { providers: [Handlers], controllers: [ShopController] },
      override: (builder) => builder.setLogger(notebook.logger),
      application: { logger: notebook.logger },
    });
    merchant.app.get(EventEmitter2).onAny((name: string | string[], event: unknown) => {
      notebook.note(`plain event ${String(name)}`, event);
    });
    merchants.push(merchant);
    return merchant;
  }

  let refundTurns = 0;

  /** A refund or a void, in turn, whose request meets the fault. */
  async function meetRefunds({ payments }: Merchant, fault: (operation: FaultOptions['operation']) => FaultOptions) {
    if (dialect !== 'morpos') return;
    const operation = (refundTurns += 1) % 2 === 0 ? 'refund' : 'void';
    const { conversationId } = await payments.doPayment(direct());
    simulator.fail(fault(operation));
    const part = operation === 'refund' ? { amount: '1.00' } : {};
    const told = { note: `for card ${DIRECT.cardNo}`, by: `ada ${DIRECT.cardNo}` };
    await notebook.watch(operation, () => payments[operation]({ conversationId, ...part, ...told }));
    const refunds = await notebook.watch('refunds', () => payments.refunds(conversationId));
    for (const { refundId, state } of refunds ?? []) {
      if (state === 'unknown') simulator.fail(fault('CheckPayment'));
      await notebook.watch('inquireRefund', () => payments.inquireRefund(refundId));
      const note = `the panel shows ${DIRECT.cardNo}`;
      await notebook.watch('resolveRefund', () => payments.resolveRefund(refundId, 'failed', note, { by: note }));
    }
  }

  /** One payment of each kind, whose request meets the fault. */
  async function meet(merchant: Merchant, fault: (operation: FaultOptions['operation']) => FaultOptions) {
    const { payments, url } = merchant;
    await meetRefunds(merchant, fault);
    simulator.fail(fault('DoPayment'));
    const paid = await notebook.watch('doPayment', () => payments.doPayment(direct()));
    simulator.fail(fault('Init3d'));
    await notebook.watch('init3d', async () => (await payments.init3d(threeD())).payment);
    const { conversationId } = await payments.init3d(threeD());
    simulator.fail(fault('Auth3d'));
    const callback = simulator.approve(conversationId);
    await notebook.page('callback', callback.request.url.replace(/^http:\/\/[^/]+/, url), callback.request);
    for (const id of [paid?.conversationId, conversationId]) {
      if (id === undefined) continue;
      simulator.fail(fault('CheckPayment'));
      await notebook.watch('inquire', () => payments.inquire(id));
      await notebook.watch('find', () => payments.find(id));
    }
  }

  it('runs ordinary payments and every fault', async () => {
    const merchant = await start();
    const { payments, url } = merchant;
    for (const amount of ['10.00', '10.51', '10.91', '10.77', '10.31', '10.96']) {
      await notebook.watch('doPayment', () => payments.doPayment(direct(amount)));
      await notebook.page('POST /shop/pay', `${url}/shop/pay`, json(direct(amount)));
      const started = await payments.init3d(threeD(amount));
      notebook.note('init3d', started.payment);
      const callback = simulator.approve(started.conversationId);
      await notebook.page('callback', callback.request.url, callback.request);
      await notebook.page('callback again', callback.request.url, callback.request);
    }
    for (const name of ODD_NAMES) await meet(merchant, (operation) => ({ operation, ...ODD[name] }));
    for (const cut of ['reset', 'close', 'half-reply'] as const)
      await meet(merchant, (operation) => ({ operation, kind: cut }));
    for (const status of [302, 400, 401, 403, 404, 409, 429, 500, 503])
      await meet(merchant, (operation) => ({ operation, kind: 'status', status }));
    await payments.reconcile();
    await notebook.watch('health', () => merchant.app.get<PaymentHealth>(paymentHealthToken()).report());
  });

  it('runs payments with texts that the search has to find', async () => {
    const { payments, url } = await start();
    const plantInReply = (): void => {
      const edit = (fields: JsonObject): void => void (fields['message'] = PLANTED_BY_GATEWAY.text);
      simulator.fail({ operation: 'DoPayment', kind: 'edit', edit });
    };
    for (const [index, write] of WAYS_TO_PLANT.entries()) {
      const reference = write(PLANTED.text);
      const plant = { reference, allowRepeat: true };
      plantInReply();
      await notebook.watch('doPayment', () => payments.doPayment({ ...direct(), ...plant }));
      plantInReply();
      await notebook.page('POST /shop/pay', `${url}/shop/pay`, json({ ...direct(), ...plant }));
      const conversationId =
        dialect === 'morpos' ? `PLANTED${kind === 'memory' ? 'M' : 'S'}00000000000${index}` : undefined;
      const started = await payments.init3d({ ...threeD(), ...plant, conversationId });
      planted.push({ name: 'planted conversationId', text: started.conversationId });
      const { request } = simulator.approve(started.conversationId);
      await notebook.page('callback', request.url, request);
      await notebook.watch('find', () => payments.findByReference(reference));
    }
    await payments.reconcile();
  });

  it('runs payments at a gateway that sends back what it received', async () => {
    const merchant = await start();
    const received = (): string => simulator.requests.at(-1)?.text ?? '';
    const header = (): string => String(simulator.requests.at(-1)?.headers['x-clientsecret']);
    const sign = (): string => (/"sign":"([^"]+)"/.exec(received()) ?? [])[1] ?? '';
    // An Auth3d comes long after the card is forgotten: its number can be told by its first and last digits, its code and expiry cannot.
    const isOfDirect = (operation: string | null): boolean => /^(DoPayment|refund|void)$/.test(operation ?? '');
    /** The card that was sent for the payment that is answered about; an inquiry may come for either. */
    const cardOf = (operation: string): typeof DIRECT | typeof THREE_D => {
      const [, id] = /"conversationId":"([^"]+)"/.exec(received()) ?? [];
      const isDirect = simulator.requests.some((sent) => isOfDirect(sent.operation) && sent.text.includes(`"${id}"`));
      return isOfDirect(operation) || (operation === 'CheckPayment' && isDirect) ? DIRECT : THREE_D;
    };
    const told = (operation: string): string => {
      const { cardNo, cvv, expDate } = cardOf(operation);
      const spaced = cardNo.replace(/(.{4})(?=.)/g, '$1 ');
      const card = `card ${cardNo} (${spaced}, ${spaced.replaceAll(' ', '-')})`;
      const keys = `secret ${CREDENTIALS.clientSecret} or ${header()} key ${CREDENTIALS.apiKey} sign ${sign()}`;
      const isCardKnown = operation === 'DoPayment' || operation === 'Init3d';
      return isCardKnown ? `${card} cvv ${cvv} exp ${expDate} ${keys} in ${received()}` : `${card} ${keys}`;
    };
    const ids = ['orderId', 'paymentId', 'bankUniqueReferenceNumber', 'authCode', 'transactionDate'];
    const echoes: ((operation: string, fields: JsonObject) => void)[] = [
      (operation, fields) => {
        for (const name of ['message', 'resultDescription', 'responseDescription']) fields[name] = told(operation);
      },
      (operation, fields) => {
        for (const name of ids) fields[name] = told(operation);
      },
      (operation, fields) => {
        for (const name of ids) fields[name] = cardOf(operation).cardNo;
      },
      (_operation, fields) => {
        ids.forEach(
          (name, index) => (fields[name] = [CREDENTIALS.apiKey, CREDENTIALS.clientSecret, sign()][index % 3] ?? ''),
        );
      },
      (operation, fields) => {
        const { cardNo } = cardOf(operation);
        fields['instrumentDetail'] = { maskedCardNumber: cardNo, cardType: cardNo };
      },
      (operation, fields) => {
        for (const name of ['code', 'resultCode', 'responseCode']) fields[name] = told(operation);
      },
      (operation, fields) => Object.assign(fields, { code: 'B0051', resultCode: 'B0051', message: told(operation) }),
      (operation, fields) => (fields['conversationId'] = told(operation)),
      (operation, fields) => (fields['currency'] = told(operation)),
    ];
    for (const echo of echoes) {
      await meet(merchant, (operation) => ({ operation, kind: 'edit', edit: (fields) => echo(operation, fields) }));
    }
    for (const status of [200, 400, 401, 500]) {
      await meet(merchant, (operation) => ({
        operation,
        ...changed((reply) => ({
          ...reply,
          status,
          body: Buffer.from(
            JSON.stringify({
              Message: told(operation),
              Details: told(operation),
              Code: 'RVV0000999999',
              validationResults: [{ ErrorMessage: told(operation) }],
            }),
          ),
        })),
      }));
      await meet(merchant, (operation) => ({
        operation,
        ...changed((reply) => ({ ...reply, status, body: Buffer.from(told(operation)) })),
      }));
    }
    await merchant.payments.reconcile();
  });

  it('passes in inputs that are refused', async () => {
    const { payments, url } = await start();
    const { cardNo, cvv } = DIRECT;
    const inputs: object[] = [
      { ...direct(), cardDetails: { ...DIRECT, cardNo: MISTYPED } },
      { ...direct(), cardDetails: { ...DIRECT, cvv: cardNo } },
      { ...direct(), cardDetails: { ...DIRECT, expDate: cardNo } },
      { ...direct(), cardDetails: { ...DIRECT, [cardNo]: cvv } },
      { ...direct(), [cardNo]: { [cvv]: cardNo } },
      { ...direct(), cardDetails: cardNo },
      { ...direct(), cardDetails: [DIRECT] },
      { ...direct(), reference: cardNo },
      { ...direct(), reference: `order ${cardNo}` },
      { ...direct(), idempotencyKey: cardNo },
      { ...direct(), idempotencyKey: `key ${cardNo}` },
      { ...direct(), returnUrl: `https://shop.example/${cardNo}` },
      { ...direct(), failUrl: `https://shop.example/?card=${cardNo}` },
      { ...direct(), transactionDetails: { amount: cardNo, currencyCode: cardNo, installmentCount: cvv } },
      { ...direct(), cardHolderInfo: { cardHolderName: cardNo, buyerGsm: cardNo } },
      { ...direct(), conversationId: cardNo },
      [DIRECT],
    ];
    for (const input of inputs) {
      await notebook.watch('doPayment', () => payments.doPayment(input as never));
      await notebook.watch('init3d', async () => (await payments.init3d(input as never)).payment);
      await notebook.page('POST /shop/pay', `${url}/shop/pay`, json(input));
      await notebook.page('POST /shop/start', `${url}/shop/start`, json(input));
    }
    const twin = { ...direct(), conversationId: dialect === 'morpos' ? 'ABC12345678901234567' : undefined };
    for (const amount of ['20.00', '21.00']) {
      const again = { ...twin, idempotencyKey: `twice-${kind}`, transactionDetails: direct(amount).transactionDetails };
      await notebook.watch('doPayment twice', () => payments.doPayment(again as never));
    }
  });

  it('passes in refunds that are refused, and some that are not', async () => {
    const { payments } = await start();
    const { cardNo, cvv } = DIRECT;
    const { conversationId } = await payments.doPayment(direct());
    const inputs: object[] = [
      { conversationId, refundId: cardNo },
      { conversationId, idempotencyKey: cardNo },
      { conversationId, idempotencyKey: `key ${cardNo}` },
      { conversationId, amount: cardNo },
      { conversationId, [cardNo]: cvv },
      { conversationId: cardNo, amount: '1.00' },
      { conversationId, cardDetails: DIRECT },
      { conversationId, amount: '1.00', note: cardNo, by: cardNo },
      { conversationId, amount: '150.00' },
    ];
    for (const input of inputs) {
      await notebook.watch('refund', () => payments.refund(input as never));
      await notebook.watch('void', () => payments.void(input as never));
      const recorded = { idempotencyKey: `panel ${conversationId}`, note: `card ${cardNo}`, amount: '2.00', ...input };
      await notebook.watch('recordRefund', () => payments.recordRefund(recorded as never));
    }
    await notebook.watch('refunds', () => payments.refunds(conversationId));
    await notebook.watch('reconcile', () => payments.reconcile());
  });

  it('receives hostile callbacks', async () => {
    const { payments, url } = await start();
    const { conversationId } = await payments.init3d(threeD());
    const { request } = simulator.approve(conversationId);
    const { cardNo, cvv } = THREE_D;
    const form = (fields: Record<string, string>): RequestInit => ({
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    const hostile: RequestInit[] = [
      form({ [cardNo]: cardNo, cvv }),
      form({ conversationId: cardNo }),
      form({ conversationId, cardNo, cvv, Message: `\r\n${cardNo}` }),
      json({ conversationId, InstrumentDetail: { [cardNo]: { cvv: [cardNo] } } }),
      json({ cardDetails: THREE_D, conversationId: [cardNo] }),
      { method: 'POST', body: `{"cardNo":"${cardNo}`, headers: { 'content-type': 'application/json' } },
      { method: 'POST', body: `cardNo=${cardNo}&cvv=${cvv}`, headers: { 'content-type': 'text/plain' } },
    ];
    const forged = request.url.replace(/payments\/[^/]+/, `payments/${cardNo}`);
    for (const attack of hostile) {
      for (const target of [request.url, forged]) await notebook.page('attack', target, attack);
    }
    await notebook.page('attack', `${request.url}?cardNo=${cardNo}&cvv=${cvv}`);
    await notebook.page('attack', `${url}/payments/${cardNo}/return?conversationId=${cardNo}`);
    const fields = { cardNo, cvv, conversationId: cardNo };
    await notebook.watch('auth3d', () => payments.auth3d({ conversationId, fields }));
    await notebook.watch('auth3d', () => payments.auth3d({ conversationId: cardNo, fields }));
    await notebook.page('callback', request.url, request);
  });

  it('meets failures of the host, whose errors contain secrets', async () => {
    const said = `${DIRECT.cardNo} ${DIRECT.cvv} ${DIRECT.expDate} ${CREDENTIALS.apiKey} ${THREE_D.cardNo}`;
    const fail = (): never => {
      throw Object.assign(new Error(said), { body: said, cause: new Error(said) });
    };
    const pay = async (merchant: Merchant): Promise<void> => {
      const { payments, url } = merchant;
      await notebook.watch('doPayment', () => payments.doPayment(direct()));
      await notebook.watch('init3d', async () => (await payments.init3d(threeD())).payment);
      await notebook.page('POST /shop/pay', `${url}/shop/pay`, json(direct()));
      await notebook.page('POST /shop/start', `${url}/shop/start`, json(threeD()));
      await notebook.watch('refund', () => payments.refund({ conversationId: paid, amount: '1.00' }));
      await notebook.watch('void', () => payments.void({ conversationId: paid }));
      await notebook.watch('reconcile', () => payments.reconcile());
    };
    const { conversationId: paid } = await (await start()).payments.doPayment(direct());

    await pay(await start({ baseUrl: 'http://127.0.0.1:9', connectTimeoutMs: 500 }));
    await pay(await start({ baseUrl: 'https://nonexistent.invalid' }));
    await pay(await start({ baseUrl: simulator.url.replace('http:', 'https:') }));
    await pay(await start({ dispatcher: { dispatch: fail } as unknown as Dispatcher }));
    const agent = new Agent();
    agents.push(agent);
    const dispatch: Dispatcher['dispatch'] = (options, handler) =>
      agent.dispatch(options, {
        onRequestStart: (...given) => handler.onRequestStart?.(...given),
        onResponseStart: (controller) => handler.onResponseError?.(controller, new Error(said)),
        onResponseData: () => undefined,
        onResponseEnd: () => undefined,
        onResponseError: () => undefined,
      });
    await pay(await start({ dispatcher: { dispatch } as Dispatcher }));

    const before = await start();
    before.app.get<HttpService>(PAYMENT_HTTP).axiosRef.interceptors.request.use(fail);
    await pay(before);
    const after = await start();
    const spied: unknown[] = [];
    after.app.get<HttpService>(PAYMENT_HTTP).axiosRef.interceptors.response.use(
      (response) => fail() ?? response,
      (error: unknown) => {
        spied.push(error);
        fail();
      },
    );
    await pay(after);
    simulator.fail({ operation: 'DoPayment', kind: 'reset' });
    await pay(after);
    notebook.note('what an interceptor gets', spied);

    await pay(await start({ dialect: standardDialect({ signer: fail }) }));
    await pay(await start({ dialect: standardDialect({ signer: () => Promise.reject(new Error(said)) }) }));

    const vetoing = await start({ beforeAuth3d: fail });
    const { conversationId } = await vetoing.payments.init3d(threeD());
    const { request } = simulator.approve(conversationId);
    await notebook.page('callback', request.url, request);
  });

  it('meets a store whose errors contain secrets', async () => {
    const talkative = new TalkativeStore();
    const merchant = await start({ store: talkative });
    const { payments } = merchant;
    for (const method of [
      'insert',
      'replace',
      'find',
      'findByReference',
      'leaseDue',
      'leaseDeliveries',
      'acknowledge',
    ]) {
      const { conversationId } = await payments.init3d(threeD());
      const { request } = simulator.approve(conversationId);
      const paid = await payments.doPayment(direct());
      talkative.failing = new Set([method, ...(method === 'insert' ? [] : ['findByTokenHash'])]);
      await notebook.watch('doPayment', () => payments.doPayment(direct()));
      await notebook.watch('init3d', async () => (await payments.init3d(threeD())).payment);
      await notebook.page('callback', request.url, request);
      await notebook.watch('refund', () => payments.refund({ conversationId: paid.conversationId, amount: '1.00' }));
      await notebook.watch('reconcile', () => payments.reconcile());
      talkative.failing = new Set();
      await notebook.watch('reconcile', () => payments.reconcile());
    }
  });

  it('is given wrong settings', async () => {
    for (const wrong of [
      { baseUrl: `ftp://user:${CREDENTIALS.clientSecret}@gateway.example`, clientSecret: '', timeoutMs: -1 },
      { apiKey: 5 as never, clientSecret: [CREDENTIALS.clientSecret] as never },
      { storeUrl: `oracle://root:${encodeURIComponent(CREDENTIALS.apiKey)}@db/shop`, store: undefined },
      { storeUrl: `mysql://root:${encodeURIComponent(CREDENTIALS.apiKey)}@127.0.0.1:9/shop`, store: undefined },
      { storeUrl: `postgres://root:${encodeURIComponent(CREDENTIALS.apiKey)}@127.0.0.1:9/shop`, store: undefined },
      { storeUrl: `redis://:${encodeURIComponent(CREDENTIALS.apiKey)}@127.0.0.1:9/0`, store: undefined },
      { storeUrl: `mysql://root:${encodeURIComponent(CREDENTIALS.apiKey)}%@127.0.0.1:9/shop`, store: undefined },
      { storeUrl: `postgres://root:${encodeURIComponent(CREDENTIALS.apiKey)}%zz@127.0.0.1:9/shop`, store: undefined },
    ]) {
      expect(await notebook.watch('start', async () => (await start(wrong)).url)).toBeUndefined();
    }
  });

  it('leaves no secret in any log, error, event, row, page or URL', async () => {
    const noteFiles = (): void => {
      for (const file of readdirSync(folder)) notebook.file(`file ${file}`, join(folder, file));
    };
    // With its write-ahead log, and without.
    noteFiles();
    const told = await recorder.texts();
    expect(told.length).toBeGreaterThan(200);
    for (const text of told) notebook.note('spans and metrics', text);
    for (const { app } of merchants) await app.close();
    noteFiles();
    // The store counts its events, and some number is the same as an expiry or a security code.
    const shown = store && inspect(store, { depth: 20, showHidden: true, maxArrayLength: null });
    if (shown) notebook.note('memory store', shown.replace(/\border: \d+/g, 'order: N'));

    const unlistened = ['output', 'console', 'process warning'];
    const sources = new Set(notebook.evidence.map(({ source }) => source.split(':')[0] ?? ''));
    for (const source of unlistened) sources.delete(source);
    expect(new Set([...sources].map((source) => source.replace(/^file .*/, 'file')))).toEqual(
      new Set([
        'log',
        'start',
        'doPayment',
        'doPayment twice',
        'POST /shop/pay',
        'POST /shop/start',
        'init3d',
        'auth3d',
        'attack',
        'callback',
        'callback again',
        'find',
        'inquire',
        'reconcile',
        'health',
        'what an interceptor gets',
        'awaited event',
        'spans and metrics',
        ...['succeeded', 'failed', 'unknown', 'review'].map((state) => `plain event payment.${state}`),
        'refund',
        'void',
        'recordRefund',
        'refunds',
        'awaited event of a refund',
        ...(dialect === 'morpos'
          ? ['inquireRefund', 'resolveRefund', ...REFUND_EVENT_STATES.map((state) => `plain event refund.${state}`)]
          : ['plain event refund.succeeded']),
        ...(kind === 'memory' ? ['memory store'] : ['file']),
      ]),
    );
    const rows = kind === 'memory' ? 'memory store' : 'file payments.db';
    expect(notebook.evidence.find(({ source }) => source === rows)?.text).toContain('524677******3508');

    expect(tokens().length).toBeGreaterThan(100);
    const secrets = [...SECRETS, BANK_PAGE, ...signs(), ...tokens()];
    expect(summary(searchFor(secrets, notebook.evidence))).toEqual([]);
  }, 120_000);

  it('finds the planted texts wherever the application shows them', () => {
    const foundIn = (name: string, source: string): boolean => {
      const evidence = notebook.evidence.filter((item) => item.source.startsWith(source));
      return searchFor(planted, evidence).some(({ secret }) => secret === name);
    };
    const rows = kind === 'memory' ? 'memory store' : 'file payments.db';
    const everywhere = ['doPayment', 'find', 'POST /shop/pay', 'awaited event', 'plain event payment.succeeded', rows];
    for (const source of everywhere) {
      expect([source, foundIn(PLANTED.name, source)]).toEqual([source, true]);
      expect([source, foundIn(PLANTED_BY_GATEWAY.name, source)]).toEqual([source, true]);
    }
    expect(foundIn(PLANTED_BY_HANDLER.name, rows)).toBe(true);
    for (const source of ['log: log', 'callback: headers', 'awaited event', 'spans and metrics', rows]) {
      expect([source, foundIn('planted conversationId', source)]).toEqual([source, true]);
    }
    const forms = searchFor([PLANTED], notebook.evidence).map(({ form }) => form);
    for (const form of ['plain', 'Base64', 'hex', 'plain, URL escapes', 'plain, JSON escapes']) {
      expect([form, forms.some((found) => found.startsWith(form))]).toEqual([form, true]);
    }
  });

  it('would find each secret in a log line, a page, an error and an event', async () => {
    const secrets = [...SECRETS, BANK_PAGE, ...signs().slice(0, 3), ...tokens().slice(0, 3)];
    const planting = new Notebook();
    const scratch = mkdtempSync(join(tmpdir(), 'leaks-'));
    for (const { name, text } of secrets) {
      planting.logger.log({ deep: { [name]: text } });
      planting.note('event', { payment: { message: `x ${text} x` } });
      await planting.watch('error', () => Promise.reject(Object.assign(new Error('x'), { detail: [text] })));
      const row = Buffer.concat([Buffer.of(0, 0xff, 0xc4), Buffer.from(text), Buffer.of(0xc4, 0x81)]);
      writeFileSync(join(scratch, 'rows'), row);
      planting.file('row', join(scratch, 'rows'));
    }
    rmSync(scratch, { recursive: true });
    const evidence = planting.evidence.map((item, index) => ({ ...item, source: `${index} ${item.source}` }));
    for (const { text, isShort } of secrets) {
      const leaks = searchFor([{ name: 'it', text, isShort }], evidence);
      const kinds = new Set(leaks.map(({ source }) => source.replace(/^\d+ |: .*/g, '')));
      expect(kinds).toEqual(new Set(['log', 'event', 'error', 'row']));
    }
  });

  /** Of the callbacks, as the gateway got them. */
  function tokens(): Secret[] {
    const found = simulator.requests.flatMap(({ text }) =>
      [...text.matchAll(/\/payments\/([\w-]{20,})\//g)].map(([, token = '']) => token),
    );
    return [...new Set(found)].map((text) => ({ name: 'callback token', text }));
  }

  /** Of requests and answers, and the secret as it was sent. */
  function signs(): Secret[] {
    const texts = simulator.requests.flatMap(({ text, answer, headers }) => [
      ...signsIn(text),
      ...signsIn(answer?.text ?? ''),
      String(headers['x-clientsecret'] ?? ''),
    ]);
    const known = SECRETS.map(({ text }) => text);
    return [...new Set(texts)]
      .filter((text) => text.length >= 20 && !known.includes(text))
      .map((text) => ({ name: 'sign', text }));
  }
});

/** Each kind of leak once. */
function summary(leaks: readonly Leak[]): string[] {
  const kinds = new Map(leaks.map((leak) => [`${leak.secret}, ${leak.form}, ${leak.source}`, leak.excerpt]));
  return [...kinds].map(([kind, excerpt]) => `${kind}: …${excerpt}…`);
}

function signsIn(text: string): string[] {
  return [...text.matchAll(/"sign":"([^"]+)"/gi)].map(([, sign = '']) => sign);
}

function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

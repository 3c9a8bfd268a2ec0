import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { type INestApplication, Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import {
  type DoPaymentDto,
  EVENT_STATES,
  morposDialect,
  OnPayment,
  OnRefund,
  PaymentClock,
  type PaymentEvent,
  PaymentModule,
  type PaymentOptions,
  type PaymentService,
  paymentToken,
  REFUND_EVENT_STATES,
  type RefundEvent,
} from 'nestjs-card-payment';
import {
  type BankCallback,
  type FaultHandle,
  type FaultOptions,
  type FaultPlay,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { Agent, buildConnector } from 'undici';
import { simulatorOptions } from '../e2e/merchant.js';
import { ODD } from '../rigs/odd-answers.js';
import { approveUnbound, showInInquiries } from '../rigs/odd-gateway.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { freePort } from '../services/server.js';
import type { Engine } from '../e2e/engines.js';
import { msOf, Transcript } from './transcript.js';
import type { LedgerEvent } from '../../lib/payment/payment-event.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A script as it stands in its file, without what came of its steps. */
export interface Script {
  readonly title: string;
  readonly steps: readonly string[];
}

type Named = Readonly<Record<string, string>>;
type Step = (words: readonly string[], named: Named) => unknown;

interface Setup {
  readonly options?: PaymentOptions;
  readonly simulator?: SimulatorOptions;
  readonly odd?: (simulator: Simulator) => void;
}

/** What a script's step `given …` means. */
const SETUPS: Readonly<Record<string, Setup>> = {
  'dialect standard': { simulator: { dialect: 'standard' } },
  'retention of an hour': { options: { retentionMs: 3_600_000 } },
  'beforeAuth3d says no': { options: { beforeAuth3d: () => false } },
  'B0029 means that a payment is not known': {
    options: { dialect: morposDialect({ codes: { notFoundCodes: new Set(['B0029']) } }) },
  },
  'inquiries know refunds': { simulator: { inquiryKnowsRefunds: true } },
  'Auth3d names no payment': { odd: (simulator) => approveUnbound(simulator, 'omitId') },
  'Auth3d names no payment, inquiries show a code': {
    odd(simulator) {
      approveUnbound(simulator, 'omitId');
      showInInquiries(simulator, 'code');
    },
  },
  'Auth3d names the payment of its request': { odd: (simulator) => approveUnbound(simulator, 'echoId') },
};
const SMS_CODES: Named = { approves: '123456', fails: '555555', cancels: 'cancel', 'comes back again': 'any' };
const NOTE = 'seen in the panel';
const MAX_STEP_MS = 30_000;

/** Timers stand still when it leaps: what they would do meanwhile depends on how fast the store is. */
class ScriptClock extends TestClock {
  private leapt = 0;

  leap(ms: number): void {
    this.leapt += ms;
  }

  override now(): Date {
    return new Date(super.now().getTime() + this.leapt);
  }

  override monotonic(): number {
    return super.monotonic() + this.leapt;
  }
}

/** A shop with its gateway, on a clock that moves by a second before each step, and by the steps that say so. */
export class ScriptedShop {
  private readonly transcript: Transcript;
  private readonly heard: { readonly handler: string; readonly at: Date; readonly event: LedgerEvent }[] = [];
  private readonly references = new Set<string>();
  private simulator!: Simulator;
  private app!: INestApplication;
  private payments!: PaymentService;
  private readonly connect = buildConnector({});
  private readonly dispatcher = new Agent({
    connect: (to, done) => (this.isGatewayDown ? done(new Error('refused'), null) : this.connect(to, done)),
  });
  private isGatewayDown = false;
  private mailFailures = 0;
  /** Calls of the store that have not ended. */
  private calls = 0;
  private fault: FaultHandle | undefined;
  private begun: Promise<unknown> | undefined;

  private constructor(
    private readonly store: PaymentStore,
    private readonly clock: ScriptClock,
    private readonly account: string,
  ) {
    this.transcript = new Transcript(clock.now(), account);
  }

  /** Plays a script, and writes below its steps what a user of the package sees of them. */
  static async play({ title, steps }: Script, engine: Engine, account: string): Promise<string> {
    const clock = new ScriptClock();
    const shop = new ScriptedShop(await engine.open(clock), clock, account);
    await shop.open(steps.find((step) => step.startsWith('given '))?.slice('given '.length));
    try {
      shop.transcript.copy(0, title);
      for (const step of steps) await shop.take(step);
      shop.transcript.copy(1, 'afterwards');
      await shop.pass(0);
      await shop.lookBack();
      return shop.transcript.toString();
    } finally {
      shop.simulator.reset();
      await shop.app.close();
      await shop.dispatcher.destroy();
      await shop.simulator.close();
    }
  }

  private readonly steps: Readonly<Record<string, Step>> = {
    given: () => undefined,
    pay: (words, named) => this.payments.doPayment(this.sale(words, named)),
    init3d: async (words, named) => {
      const { content, html, ...start } = await this.payments.init3d(this.sale(words, named));
      return { ...start, html: pageIn(html), content: pageIn(Buffer.from(content, 'base64').toString()) };
    },
    page: async (words, named) => {
      const { cardDetails: _card, cardHolderInfo: _holder, ...sale } = this.sale(words, named);
      const { redirectUrl, html, ...start } = await this.payments.startHosted(sale);
      return { ...start, redirectUrl: pageIn(redirectUrl), html: pageIn(html) };
    },
    auth3d: ([conversationId = ''], fields) => this.payments.auth3d({ conversationId, fields }),
    findByReference: ([reference = '']) => this.payments.findByReference(reference),
    find: ([id = '']) => this.payments.find(id),
    inquire: ([id = '']) => this.payments.inquire(id),
    abandon: ([id = '']) => this.payments.abandon(id),
    resolve: ([id = '', state], named) => this.payments.resolve(id, state as 'failed', NOTE, named),
    refund: ([conversationId = '', amount], named) => this.payments.refund({ conversationId, amount, ...named }),
    void: ([conversationId = ''], named) => this.payments.void({ conversationId, ...named }),
    record: ([conversationId = '', amount = ''], named) =>
      this.payments.recordRefund({ conversationId, amount, note: NOTE, ...named }),
    totals: ([id = '']) => this.payments.refundTotals(id),
    inquireRefund: ([id = '']) => this.payments.inquireRefund(id),
    resolveRefund: ([id = '', state], named) => this.payments.resolveRefund(id, state as 'failed', NOTE, named),

    // What the buyer does at the bank's page or at the gateway's own; the browser then brings the callback.
    bank: ([id = '', ...does]) => this.bring(this.simulator.bank.answer(id, { code: SMS_CODES[does.join(' ')]! })),
    payAtPage: ([id = '', closes], named) => {
      const callback = this.simulator.payAtPage(id, { ...named, callback: closes ? 'none' : 'post' });
      return callback.copies > 0 ? this.bring(callback) : undefined;
    },
    /** What the bank sent for another payment, posted to the address of this one. */
    forge: ([conversationId = '', other = '']) => {
      const { request } = this.simulator.bank.answer(conversationId, { code: 'cancel' });
      const body = new URLSearchParams({ ...this.simulator.approve(other).fields, conversationId }).toString();
      return this.bring({ request: { ...request, body } });
    },

    // `gateway DoPayment reset`, `gateway CheckPayment 503 times=9`, `gateway recovers`, `gateway down`.
    gateway: ([operation = '', kind = ''], { times = '1', ...more }) => {
      if (kind === '') {
        this.isGatewayDown = operation === 'down';
        return this.fault?.release();
      }
      const odd = (ODD as Readonly<Record<string, FaultPlay>>)[kind];
      const play = /^\d+$/.test(kind) ? { kind: 'status', status: Number(kind) } : (odd ?? { kind });
      this.fault = this.simulator.fail({ operation, times: Number(times), ...play, ...more } as FaultOptions);
      return undefined;
    },
    /** A call whose answer the gateway holds back, and what it gives in the end. */
    begin: async (words) => {
      this.begun = this.call(words.join(' '));
      this.begun.catch(() => undefined);
      await this.fault?.played;
    },
    end: () => {
      this.fault?.release();
      return this.begun;
    },

    wait: ([time = '']) => this.pass(msOf(time)),
    reconcile: async () => withoutZeros(await this.payments.reconcile()),
    /** `passes 5 every 1h` */
    passes: async ([count, , time = '']) => {
      const sums: Record<string, number> = {};
      for (let pass = 0; pass < Number(count); pass += 1) {
        await this.pass(msOf(time));
        const counts = Object.entries({ ...(await this.payments.reconcile()) });
        for (const [name, times] of counts) sums[name] = (sums[name] ?? 0) + times;
      }
      return withoutZeros(sums);
    },
    mail: ([, times]) => void (this.mailFailures = Number(times)),
    parked: () => parkedIn(this.store, this.account),
    replay: ([handlerId = '', eventId = '']) => this.store.replay(this.account, handlerId, eventId),
  };

  private async open(given?: string): Promise<void> {
    const { clock, account } = this;
    const store = interceptCalls(this.store, ({ proceed }) => {
      this.calls += 1;
      return proceed().finally(() => (this.calls -= 1));
    });
    const { simulator, options, odd } = given === undefined ? {} : SETUPS[given]!;
    const timeless = { clock: () => clock.now(), timestampToleranceMs: Infinity };
    this.simulator = await startSimulator({ dialect: 'morpos', ...timeless, ...simulator });
    odd?.(this.simulator);
    const port = await freePort();
    const payment = PaymentModule.forRoot({
      ...simulatorOptions(this.simulator),
      name: account,
      publicUrl: `http://127.0.0.1:${port}`,
      store,
      dispatcher: this.dispatcher,
      keepAliveMs: 0,
      background: false,
      // Otherwise a payment in memory would be kept for a day, and in a database for good.
      retentionMs: msOf('365d'),
      ...options,
    });
    const imports = [EventEmitterModule.forRoot(), payment];
    const builder = Test.createTestingModule({ imports, providers: [this.handlers()] });
    const module = await builder.overrideProvider(PaymentClock).useValue(clock).compile();
    this.app = module.createNestApplication({ logger: false });
    await this.app.listen(port, '127.0.0.1');
    this.payments = this.app.get(paymentToken(account));
    this.app.get(EventEmitter2).onAny((_type, event: LedgerEvent) => this.hear('@OnEvent', event));
  }

  private handlers() {
    const { account: name } = this;
    const hear = this.hear.bind(this);
    const fails = (): boolean => this.mailFailures-- > 0;
    @Injectable()
    class Handlers {
      @OnPayment([...EVENT_STATES], { id: 'orders', name })
      orders(event: PaymentEvent): void {
        hear('orders', event);
      }

      @OnPayment(['unknown', 'succeeded'], { id: 'mail', name })
      mail(event: PaymentEvent): void {
        hear('mail', event);
        if (fails()) throw new Error('the mail server is down');
      }

      @OnRefund([...REFUND_EVENT_STATES], { id: 'refunds', name })
      refunds(event: RefundEvent): void {
        hear('refunds', event);
      }
    }
    return Handlers;
  }

  private hear(handler: string, event: LedgerEvent): void {
    this.heard.push({ handler, at: this.clock.now(), event });
  }

  /** Plain events are emitted, once the store was asked about their orders, before the clock moves. */
  private async pass(ms: number): Promise<void> {
    for (let turn = 0; turn < 2 || this.calls > 0; turn += 1) await nextTurn();
    this.clock.leap(ms);
  }

  private async take(step: string): Promise<void> {
    await this.pass(msOf('1s'));
    this.transcript.copy(1, step);
    try {
      const result = await Promise.race([this.call(step), tooLate(step)]);
      if (result !== undefined) this.transcript.write(2, this.transcript.describe(result));
    } catch (error) {
      // An error of another class comes from a mistake in the script, or from a payment in it that was never made.
      this.transcript.write(2, `throws ${this.transcript.describe(error)}`);
    }
  }

  private async call(step: string): Promise<unknown> {
    const meant = step.replace(/\b(id|refund)\d+\b/g, (id) => this.transcript.actual(id));
    const [verb = '', ...words] = meant.split(' ');
    if (verb === 'begin') return this.steps.begin!(words, {});
    const named = words.filter((word) => word.includes('=')).map((word) => word.split('='));
    const others = words.filter((word) => !word.includes('='));
    return await this.steps[verb]!(others, Object.fromEntries(named) as Named);
  }

  private sale([reference = '', amount = '']: readonly string[], named: Named): DoPaymentDto {
    const { card = '4508034508034509', installments = '1', repeat, ...more } = named;
    this.references.add(reference);
    return {
      reference,
      cardDetails: { cardNo: card, expDate: '1236', cvv: '000' },
      transactionDetails: { amount, currencyCode: 949, installmentCount: Number(installments) },
      cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
      ...(repeat && { allowRepeat: true }),
      ...more,
    };
  }

  private async bring({ request }: Pick<BankCallback, 'request'>): Promise<string> {
    const { status, headers } = await fetch(request.url, { ...request, redirect: 'manual' });
    return `${status} ${headers.get('location') ?? ''}`.trim();
  }

  /** The events of each payment and refund in their order; nothing is promised about the order of different ones. */
  private heardBy(name: string): string {
    const { transcript } = this;
    const heard = this.heard.filter(({ handler }) => handler === name);
    const ids = [...transcript.ids('id'), ...transcript.ids('refund'), ...heard.map(({ event }) => idOf(event))];
    const events = [...new Set(ids)].flatMap((id) => heard.filter(({ event }) => idOf(event) === id));
    return events.map(({ at, event }) => `${transcript.describe(at)} ${transcript.event(event)}`).join('; ');
  }

  /** What can be seen after the script. */
  private async lookBack(): Promise<void> {
    const { transcript, payments, simulator, store, account } = this;
    const say = (what: string, text: string): void => transcript.write(2, `${what}: ${text || 'nothing'}`);
    for (const handler of ['@OnEvent', 'orders', 'mail', 'refunds']) say(handler, this.heardBy(handler));
    for (const reference of this.references) {
      say(`findByReference ${reference}`, transcript.describe(await payments.findByReference(reference)));
    }
    for (const id of transcript.ids('id')) {
      const found = await payments.find(id);
      say(`find ${id}`, transcript.describe(found));
      if (!found) continue;
      say(`history of ${id}`, transcript.history(await store.history(account, id)));
      const refunds = transcript.describe(await payments.refunds(id));
      say(`refunds of ${id}`, `${refunds} (${transcript.describe(await payments.refundTotals(id))})`);
    }
    for (const id of transcript.ids('refund')) {
      say(`history of ${id}`, transcript.history(await store.history(account, id)));
    }
    const { charges, refunds, violations } = simulator.ledger;
    say('the gateway was asked for', simulator.requests.map(({ operation }) => operation).join(', '));
    say('charged', charges.map(({ conversationId, amount }) => `${conversationId} ${amount}`).join(', '));
    say('given back', refunds.map(({ conversationId, amount }) => `${conversationId} ${amount}`).join(', '));
    if (violations.length > 0) say('violations', transcript.describe(violations));
  }
}

/** A step that waits for the clock, which does not move by itself, fails instead of hanging. */
async function tooLate(step: string): Promise<never> {
  await delay(MAX_STEP_MS, undefined, { ref: false });
  throw new Error(`"${step}" has no result after ${MAX_STEP_MS} ms`);
}

/** The payment or refund of an event. */
function idOf(event: LedgerEvent): string {
  return 'refund' in event ? event.refund.refundId : event.payment.conversationId;
}

/** The kind of page to which a URL, or the form in a page, leads. */
function pageIn(text: string | null): string | null {
  return text && (/https?:\/\/[\d.:]+(\/[A-Za-z\d]+)/.exec(text)?.[1] ?? 'nowhere');
}

/** Of counts. */
function withoutZeros(counts: object): object {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

/** The deliveries that are parked, which only the store tells. */
async function parkedIn(store: PaymentStore, account: string): Promise<object[]> {
  const parked = await store.listDeliveries({ account, parked: true, after: null, limit: 10 });
  return parked.map(({ handlerId, event: { eventId }, attempts, error }) => ({ handlerId, eventId, attempts, error }));
}

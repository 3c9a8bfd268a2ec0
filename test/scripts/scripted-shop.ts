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
import type { Script } from '../rigs/played-scripts.js';
import { approveUnbound, showCodeInInquiries } from '../rigs/odd-gateway.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { freePort } from '../services/server.js';
import type { Engine } from '../e2e/engines.js';
import { loggerInto } from '../operations/log-lines.js';
import { StoreFaults } from './store-faults.js';
import { msOf, Transcript } from './transcript.js';
import type { LedgerEvent } from '../../lib/payment/payment-event.js';
import { Randomness, SystemRandomness } from '../../lib/runtime/randomness.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

type Named = Readonly<Record<string, string>>;
type Step = (words: readonly string[], named: Named) => unknown;

interface Setup {
  readonly options?: PaymentOptions;
  /** What is different in the second instance. */
  readonly other?: PaymentOptions;
  readonly simulator?: SimulatorOptions;
  readonly odd?: (simulator: Simulator) => void;
}

const WITH_INQUIRY = morposDialect();
const WITHOUT_INQUIRY = { ...WITH_INQUIRY, operations: { ...WITH_INQUIRY.operations, checkPayment: undefined } };

/** What a script's step `given …` means. */
const SETUPS: Readonly<Record<string, Setup>> = {
  'dialect standard': { simulator: { dialect: 'standard' } },
  'retention of an hour': { options: { retentionMs: 3_600_000 } },
  'retention of an hour, keys of ten': { options: { retentionMs: 3_600_000, idempotencyTtlMs: 36_000_000 } },
  'an instance with another merchantId': { other: { merchantId: '900900900' } },
  'an instance that cannot inquire': { other: { dialect: WITHOUT_INQUIRY } },
  'beforeAuth3d says no': { options: { beforeAuth3d: () => false } },
  'B0029 means that a payment is not known': {
    options: { dialect: morposDialect({ codes: { notFoundCodes: new Set(['B0029']) } }) },
  },
  'inquiries know refunds': { simulator: { inquiryKnowsRefunds: true } },
  'Auth3d names no payment': { odd: (simulator) => approveUnbound(simulator, 'omitId') },
  'Auth3d names no payment, inquiries show a code': {
    odd(simulator) {
      approveUnbound(simulator, 'omitId');
      showCodeInInquiries(simulator);
    },
  },
  'Auth3d names the payment of its request': { odd: (simulator) => approveUnbound(simulator, 'echoId') },
};
const SMS_CODES: Named = { approves: '123456', fails: '555555', cancels: 'cancel', 'comes back again': 'any' };
const NOTE = 'seen in the panel';
const MAX_STEP_MS = 15_000;

/** What is spread at random comes in the middle. */
class ScriptRandomness extends SystemRandomness {
  override fraction(): number {
    return 0.5;
  }
}

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
  private readonly apps: INestApplication[] = [];
  private port = 0;
  private payments!: PaymentService;
  private other: PaymentService | undefined;
  private readonly connect = buildConnector({});
  private readonly dispatcher = new Agent({
    connect: (to, done) => (this.isGatewayDown ? done(this.refused(), null) : this.connect(to, done)),
  });
  private isGatewayDown = false;
  private mailFailures = 0;
  /** Warnings and errors that have not been written down yet. */
  private readonly log: string[] = [];
  /** When the gateway could not be reached. */
  private readonly refusals: Date[] = [];
  private readonly faults = new StoreFaults(() => this.reach());
  private fault: FaultHandle | undefined;
  /** What holds back the call that was begun. */
  private stall: FaultHandle | undefined;
  private begun: Promise<unknown> | undefined;
  /** Called when what was begun has come as far as it can. */
  private reach: () => void = () => undefined;

  private constructor(
    private readonly store: PaymentStore,
    private readonly clock: ScriptClock,
    private readonly account: string,
    private readonly setup: Setup,
  ) {
    this.transcript = new Transcript(clock.now(), account);
  }

  /** Plays a script, and writes below its steps what a user of the package sees of them. */
  static async play({ title, steps }: Script, engine: Engine, account: string): Promise<string> {
    const clock = new ScriptClock();
    const given = steps.find((step) => step.startsWith('given '))?.slice('given '.length);
    const shop = new ScriptedShop(await engine.open(clock), clock, account, given === undefined ? {} : SETUPS[given]!);
    await shop.open();
    try {
      shop.transcript.copy(0, title);
      for (const step of steps) await shop.take(step);
      shop.transcript.copy(1, 'afterwards');
      await shop.pass(0);
      shop.writeLog();
      await shop.lookBack();
      return shop.transcript.toString();
    } finally {
      shop.faults.recover();
      await shop.faults.land();
      shop.simulator.reset();
      for (const app of shop.apps) await app.close();
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
    /** What the bank sent, which its page has approved. */
    complete: ([conversationId = '']) =>
      this.payments.auth3d({ conversationId, fields: this.simulator.approve(conversationId).fields }),
    findByReference: ([reference = '']) => this.payments.findByReference(reference),
    find: ([id = '']) => this.payments.find(id),
    inquire: ([id = '']) => this.payments.inquire(id),
    abandon: ([id = '']) => this.payments.abandon(id),
    resolve: ([id = '', state], { force, ...named }) =>
      this.payments.resolve(id, state as 'failed', NOTE, { ...named, force: force === 'yes' }),
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
    /** A call that the gateway or the store holds back, or for which there is no connection, and what it gives in the end. */
    begin: async (words) => {
      const reached = new Promise<void>((resolve) => (this.reach = resolve));
      this.stall = this.fault;
      void this.stall?.played.then(this.reach);
      this.begun = this.call(words.join(' '));
      this.begun.catch(() => undefined);
      await reached;
    },
    end: () => {
      this.stall?.release();
      return this.begun;
    },

    // `store replace fails times=2 state=authorizing`, `store lands`, `store recovers`
    store: ([method = '', fate], named) => {
      if (fate !== undefined) return this.faults.plan(method, fate as 'fails', named);
      return method === 'lands' ? this.faults.land() : this.faults.recover();
    },

    wait: ([time = '']) => this.pass(msOf(time)),
    /** The same, with what timers do meanwhile. */
    advance: ([time = '']) => this.clock.advance(msOf(time)),
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

  private async open(): Promise<void> {
    const { simulator, odd } = this.setup;
    const timeless = { clock: () => this.clock.now(), timestampToleranceMs: Infinity };
    this.simulator = await startSimulator({ dialect: 'morpos', ...timeless, ...simulator });
    odd?.(this.simulator);
    this.port = await freePort();
    const app = await this.start(this.setup.options);
    await app.listen(this.port, '127.0.0.1');
    this.payments = app.get(paymentToken(this.account));
  }

  /** Starts an instance of the shop. */
  private async start(options: PaymentOptions | undefined): Promise<INestApplication> {
    const { clock, account } = this;
    const payment = PaymentModule.forRoot({
      ...simulatorOptions(this.simulator),
      name: account,
      publicUrl: `http://127.0.0.1:${this.port}`,
      store: interceptCalls(this.store, (call) => this.faults.handle(call)),
      dispatcher: this.dispatcher,
      keepAliveMs: 0,
      background: false,
      // Otherwise a payment in memory would be kept for a day, and in a database for good.
      retentionMs: msOf('365d'),
      ...options,
    });
    const imports = [EventEmitterModule.forRoot(), payment];
    const module = await Test.createTestingModule({ imports, providers: [this.handlers()] })
      .overrideProvider(PaymentClock)
      .useValue(clock)
      .overrideProvider(Randomness)
      .useValue(new ScriptRandomness())
      .setLogger(loggerInto(this.log))
      .compile();
    const app = module.createNestApplication({ logger: loggerInto(this.log) });
    this.apps.push(app);
    await app.init();
    this.log.length = 0;
    app.get(EventEmitter2).onAny((_type, event: LedgerEvent) => this.hear('@OnEvent', event));
    return app;
  }

  /** Has another instance, on the same store and gateway, take a step. */
  private async byOther(step: string): Promise<unknown> {
    const { payments } = this;
    this.other ??= (await this.start(this.setup.other)).get<PaymentService>(paymentToken(this.account));
    this.payments = this.other;
    try {
      return await this.call(step);
    } finally {
      this.payments = payments;
    }
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

  private refused(): Error {
    this.refusals.push(this.clock.now());
    this.reach();
    return new Error('refused');
  }

  private hear(handler: string, event: LedgerEvent): void {
    this.heard.push({ handler, at: this.clock.now(), event });
  }

  /** Plain events are emitted, once the store was asked about their orders, before the clock moves. */
  private async pass(ms: number): Promise<void> {
    for (let turn = 0; turn < 2 || this.faults.running > 0; turn += 1) await nextTurn();
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
    this.writeLog();
  }

  /** Warnings and errors, without places in the code; what is wrong with the gateway has tests of its own. */
  private writeLog(): void {
    const counts = new Map<string, number>();
    for (const line of this.log.splice(0)) {
      if (/^log |^\w+ The (?:payment gateway|dialect) /.test(line)) continue;
      const shown = line.replace(/, at .*$/, '').replaceAll(`account ${this.account}`, 'account shop');
      counts.set(shown, (counts.get(shown) ?? 0) + 1);
    }
    for (const [line, times] of counts)
      this.transcript.write(2, `logs ${line}${times === 1 ? '' : ` (${times} times)`}`);
  }

  /** What another instance or caller does around the next call of a method of the store. */
  private around(when: 'before' | 'after', [method = '', ...step]: readonly string[]): void {
    this.faults.around(when, method, async () => {
      const said = (await this.call(step.join(' ')).catch((error: unknown) => error)) ?? 'done';
      this.transcript.write(2, `${when} ${method}: ${step.join(' ')}: ${this.transcript.describe(said)}`);
    });
  }

  private async call(step: string): Promise<unknown> {
    const meant = step.replace(/\b(id|refund)\d+\b/g, (id) => this.transcript.actual(id));
    const [verb = '', ...words] = meant.split(' ');
    if (verb === 'begin') return this.steps.begin!(words, {});
    if (verb === 'other') return this.byOther(words.join(' '));
    if (verb === 'before' || verb === 'after') return this.around(verb, words);
    const named = words.filter((word) => word.includes('=')).map((word) => word.split('='));
    const others = words.filter((word) => !word.includes('='));
    return await this.steps[verb]!(others, Object.fromEntries(named) as Named);
  }

  private sale([reference = '', amount = '']: readonly string[], named: Named): DoPaymentDto {
    const { card = '4508034508034509', installments = '1', currency = '949', repeat, ...more } = named;
    this.references.add(reference);
    return {
      reference,
      cardDetails: { cardNo: card, expDate: '1236', cvv: '000' },
      transactionDetails: { amount, currencyCode: Number(currency), installmentCount: Number(installments) },
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
    const asked = [...simulator.requests, ...this.refusals.map((at) => ({ operation: '(no connection)', at }))]
      .sort((one, two) => one.at.getTime() - two.at.getTime())
      .map(({ operation, at }) => `${operation} ${transcript.describe(at)}`);
    say('the gateway was asked for', asked.join(', '));
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

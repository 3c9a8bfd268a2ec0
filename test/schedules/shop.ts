import {
  type DoPaymentDto,
  MemoryPaymentStore,
  type Payment,
  PaymentError,
  type PaymentEvent,
  PaymentNotSentError,
  type PaymentService,
  type RefundEvent,
} from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import type { Transmission, WireRequest } from '../../lib/gateway/transport/attempt.js';
import { EVENT_STATES, REFUND_EVENT_STATES } from '../../lib/payment/states.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { type AssembledFlows, assembleFlows } from '../operations/assembled-flows.js';
import { SeededRandomness } from '../rigs/chance.js';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import type { Choice, Run } from './explorer.js';
import { ACCOUNT, Gateway, movesMoney, operationOf, type WireFields } from './gateway.js';
import { Host, timePasses } from './host.js';
import { type Answer, Witness } from './witness.js';

/** A flaw that the module could have, planted where it meets the store, or in one of its parts. */
export interface Plant {
  /** Makes the store that all hosts share. */
  readonly makeStore?: (clock: TestClock) => PaymentStore;
  /** Changes how each host uses it. */
  readonly wrapStore?: (store: PaymentStore) => PaymentStore;
  readonly tamper?: (flows: AssembledFlows) => void;
}

/** What a host is asked. */
export type Act = (shop: Shop, host: ShopHost) => Promise<Answer | void>;

/** What the hosts of a shop are asked at once, and what came before that. */
export interface Script {
  readonly name: string;
  readonly hosts: number;
  readonly faults: number;
  /** Calls of the store that are steps besides writes of records. All others are made at once and never fail. */
  readonly steps?: RegExp;
  /** Whether a write that failed may still be done at any later time. */
  readonly lateWrites?: boolean;
  /** Whether a call of a handler is a step. Otherwise handlers never fail. */
  readonly handlersToo?: boolean;
  readonly retentionMs?: number;
  /** What has been made before anything can fail. */
  readonly prepare?: Act;
  /** Each host is asked one of these; if there is one only, every host is asked the same. */
  readonly acts: readonly Act[];
  /** What a buyer does at any time during that. */
  readonly buyer?: { readonly what: string; readonly does: (shop: Shop) => void };
  /** What a buyer does after it, once the buyers' sessions are over. */
  readonly late?: (shop: Shop) => void;
  /** Whether the order must have been paid in the end, unless a host died or a request was dropped. */
  readonly isPaid?: boolean;
  readonly plant?: Plant;
}

const READS = /^(find|list|history|counts|now)/;
const WRITES = /^(insert|replace)$/;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * How much time passes before each pass of the background work. The first comes before any claim runs out, the second
 * after that, the third when an answer of "not found" can be confirmed, the next when the buyer's session is over, and
 * the last when what a page's end has to be told twice has been told.
 */
const PASSES_MS = [MINUTE_MS, 2 * MINUTE_MS, 15 * MINUTE_MS, 2 * HOUR_MS, HOUR_MS, 30 * HOUR_MS];
const SESSION_IS_OVER = 3;
/** How often time passes at most while a step waits, as it may for good. */
const MAX_HURRIED = 3;

/** What a trace ends with. */
export const ENDING = 'Nothing fails any more. For hours hosts work in the background, and buyers reload the page.';

/** A shop with its hosts, whose gateway and store are shared by all. */
export class Shop implements Run {
  readonly clock = new TestClock();
  readonly gateway = new Gateway();
  readonly witness: Witness;
  readonly store: PaymentStore;
  /** Payments whose buyers come back: 3D payments, and tokens of the gateway's own pages. */
  readonly atTheBank: string[] = [];
  readonly atPages = new Map<string, string>();
  /** Whether a request was sent and never arrived. */
  hasDropped = false;
  readonly hosts: readonly ShopHost[];
  /** It prepares, and in the end does what a host that starts after a crash does: it knows nothing of theirs. */
  readonly another: ShopHost;
  private readonly buyer: Host;
  private hurried = 0;

  constructor(readonly script: Script) {
    const { plant, hosts } = script;
    this.witness = new Witness(this);
    this.store = this.witness.watch(plant?.makeStore?.(this.clock) ?? new MemoryPaymentStore({ clock: this.clock }));
    this.hosts = ['A', 'B', 'C'].slice(0, hosts).map((name) => new ShopHost(name, this));
    this.another = new ShopHost('another host', this);
    this.buyer = new Host('the buyer', this.clock);
  }

  static async begin(script: Script): Promise<Shop> {
    const shop = new Shop(script);
    for (const host of [...shop.hosts, shop.another]) await host.start();
    await script.prepare?.(shop, shop.another);
    const { buyer, acts } = script;
    if (buyer) shop.buyer.happensLater(`the buyer ${buyer.what}`, () => buyer.does(shop));
    for (const [index, host] of shop.hosts.entries()) {
      host.isHeld = true;
      void host.ask(() => acts[index % acts.length]!(shop, host));
    }
    return shop;
  }

  /** Where all are asked the same, hosts that have taken no step yet are all alike: only the first of them goes on. */
  get choices(): readonly Choice[] {
    const unmoved = this.hosts.filter(({ hasMoved }) => !hasMoved).slice(1);
    const alike = this.script.acts.length === 1 ? unmoved : [];
    const hosts = this.hosts.filter((host) => !alike.includes(host));
    const steps = [...hosts.flatMap((host) => host.choices), ...this.buyer.choices];
    return steps.length === 0 || this.hurried < MAX_HURRIED ? [...steps, ...this.timePasses(steps.length > 0)] : steps;
  }

  /** @param isHurried whether a step waits meanwhile */
  private timePasses(isHurried: boolean): Choice[] {
    return timePasses(this.hosts, this.clock).map((choice) => ({
      ...choice,
      take: () => {
        this.hurried += isHurried ? 1 : 0;
        return choice.take();
      },
    }));
  }

  get alive(): ShopHost[] {
    return [...this.hosts, this.another].filter(({ isDead }) => !isDead);
  }

  async end(): Promise<readonly string[]> {
    for (const host of this.hosts) host.isHeld = false;
    for (const [index, pass] of PASSES_MS.entries()) {
      if (index === SESSION_IS_OVER) this.script.late?.(this);
      await this.clock.advance(pass);
      if (index === 0) this.witness.checkAnswers('a minute later');
      if (index === 0) this.witness.checkAnswered();
      await this.workInTheBackground();
    }
    for (const host of this.alive) this.buyersReturn(host);
    await this.clock.advance(MINUTE_MS);
    await this.witness.checkEnd();
    return this.witness.broken;
  }

  /** Each living host works in the background once, while buyers reload the page. */
  private workInTheBackground(): Promise<void> {
    this.buyersReturn(this.another);
    for (const host of this.alive) void host.reconcile();
    return this.clock.advance(MINUTE_MS);
  }

  buyersReturn(host: ShopHost): void {
    for (const conversationId of this.atTheBank) void host.ask(() => host.receiveCallback(conversationId));
    for (const conversationId of this.atPages.keys()) void host.ask(() => host.returnFromPage(conversationId));
  }
}

export class ShopHost extends Host {
  readonly flows: AssembledFlows;
  /** What its callers were told. */
  readonly told: Answer[] = [];
  unanswered = 0;
  private sent = 0;

  constructor(
    name: string,
    private readonly shop: Shop,
  ) {
    super(name, shop.clock);
    const { retentionMs = 0, plant } = shop.script;
    const store = interceptCalls(shop.store, (call) => this.callStore(call));
    this.flows = assembleFlows({
      store: plant?.wrapStore?.(store) ?? store,
      clock: this.clock,
      transport: { http: {}, post: (request: WireRequest) => this.post(request) } as unknown as GatewayTransport,
      random: new SeededRandomness(name.charCodeAt(0)),
      options: { retentionMs },
    });
    plant?.tamper?.(this.flows);
  }

  get payments(): PaymentService {
    return this.flows.payments;
  }

  async start(): Promise<void> {
    await this.flows.time.check();
    const common = { account: ACCOUNT, id: 'orders', concurrency: 1, timeoutMs: null };
    const handler = { ...common, handle: (event: PaymentEvent | RefundEvent) => this.callHandler(event) };
    await this.flows.events.announce([
      { ...handler, types: EVENT_STATES.map((state) => `payment.${state}` as const) },
      { ...handler, types: REFUND_EVENT_STATES.map((state) => `refund.${state}` as const) },
    ]);
  }

  private callHandler(event: PaymentEvent | RefundEvent): Promise<void> {
    const { shop, name } = this;
    const handled = (): Promise<void> => Promise.resolve(shop.witness.seeHandled(event));
    if (!shop.script.handlersToo) return handled();
    return this.step(`calls the handler of ${event.type}`, {
      done: handled,
      'it throws': () => Promise.reject(new Error('the mail server is down')),
      [`done, then ${name} dies`]: () => handled().then(() => this.die()),
    });
  }

  /** A call of the merchant's code, whose answer is checked. */
  async ask(call: () => Promise<Answer | void>): Promise<void> {
    this.unanswered += 1;
    const sentBefore = this.sent;
    try {
      const answer = await call();
      if (answer) this.shop.witness.seeAnswer(this, answer);
    } catch (error) {
      const what = `${this.name} answered with ${String(error)}`;
      this.shop.witness.check(error instanceof PaymentError, what);
      this.shop.witness.check(this.sent === sentBefore, `${what}, although it had sent a request that moves money`);
      if (error instanceof PaymentNotSentError && error.payment) this.told.push(error.payment);
    }
    this.unanswered -= 1;
  }

  receiveCallback(conversationId: string): Promise<Payment> {
    return this.payments.auth3d({ conversationId, fields: { conversationId, mdStatus: '1' } });
  }

  async returnFromPage(conversationId: string): Promise<Payment> {
    return (await this.flows.receiver.complete(this.shop.atPages.get(conversationId)!, {})).payment;
  }

  async start3d(input: DoPaymentDto): Promise<Payment> {
    const { payment } = await this.payments.init3d(input);
    this.shop.atTheBank.push(payment.conversationId);
    return payment;
  }

  async startPage({ reference, transactionDetails }: DoPaymentDto): Promise<Payment> {
    return (await this.payments.startHosted({ reference, transactionDetails })).payment;
  }

  /** One pass of the background work. */
  async reconcile(): Promise<void> {
    try {
      await this.payments.reconcile();
    } catch (error) {
      const isAllowed = this.isHeld && error instanceof PaymentError;
      this.shop.witness.check(isAllowed, `${this.name} could not work in the background: ${String(error)}`);
    }
  }

  private callStore({ method, args, proceed }: StoreCall): Promise<unknown> {
    const { steps, lateWrites } = this.shop.script;
    const fail = (): Promise<never> => Promise.reject(new Error('The store does not answer.'));
    if (!WRITES.test(method) && !steps?.test(method)) return proceed();
    const ends = { done: proceed, 'the store refuses it': fail };
    if (READS.test(method)) return this.step(`asks the store to ${method}`, ends);
    const { state, version } = args[0] as Partial<PaymentRecord>;
    const hasEvent = args.some((arg) => (arg as Partial<PaymentEvent> | undefined)?.eventId);
    const what = version ? `writes version ${version}, ${state}${hasEvent ? ', and its event' : ''}` : method;
    const later = (): Promise<never> => {
      this.happensLater(`the store, late: ${this.name} ${what}`, proceed);
      return fail();
    };
    return this.step(what, {
      ...ends,
      ...(lateWrites && { 'the store fails, and does it later': later }),
      'done, but the answer is lost': () => proceed().then(fail),
      [`done, then ${this.name} dies`]: () => proceed().then(() => this.die()),
    });
  }

  private post({ url, body }: WireRequest): Promise<Transmission> {
    const { gateway, atPages } = this.shop;
    const fields = JSON.parse(body) as WireFields & { readonly returnUrl?: string };
    const operation = operationOf(url.split('/').pop() ?? '', fields);
    const [, token] = /payments\/([\w-]{43})/.exec(fields.returnUrl ?? '') ?? [];
    if (operation === 'page' && token) atPages.set(fields.conversationId, token);
    const send = (): Promise<Transmission> => {
      if (movesMoney(operation)) this.sent += 1;
      return Promise.resolve(gateway.receive(operation, fields));
    };
    const loseAnswer = (): Promise<Transmission> => send().then(() => LOST);
    const drop = (): Promise<Transmission> => {
      if (movesMoney(operation)) this.sent += 1;
      this.shop.hasDropped = true;
      return Promise.resolve(LOST);
    };
    return this.step(`sends ${operation}`, {
      done: send,
      'there is no connection': () => Promise.resolve(NOT_SENT),
      'it never arrives': drop,
      'done, but the answer is lost': loseAnswer,
      [`done, then ${this.name} dies`]: () => send().then(() => this.die()),
    });
  }
}

const LOST: Transmission = { sent: true, reply: null, cause: 'connection_lost' };
const NOT_SENT: Transmission = { sent: false, cause: 'connection_failed' };

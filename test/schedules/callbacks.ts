import { MemoryPaymentStore, type Payment, type PaymentEvent, PaymentStoreError } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import type { Transmission, WireRequest } from '../../lib/gateway/transport/attempt.js';
import { EVENT_STATES, rowOf } from '../../lib/payment/payment-state.js';
import { type AssembledFlows, assembleFlows } from '../flows/assembled-flows.js';
import { FakeGateway, LOST, NOT_FOUND, NOT_SENT, type SentRequest } from '../flows/fake-gateway.js';
import { SeededRandomness } from '../rigs/chance.js';
import { sale } from '../rigs/sale.js';
import { interceptCalls, type StoreCall } from '../rigs/store-calls.js';
import type { Choice, Run, Scenario } from './explorer.js';
import { Host, timePasses } from './host.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A flaw that the module could have, planted where it meets the store. */
export interface Plant {
  /** Makes the store that all hosts share. */
  readonly makeStore?: (clock: TestClock) => PaymentStore;
  /** Changes how each host uses it. */
  readonly wrapStore?: (store: PaymentStore) => PaymentStore;
}

interface Setup {
  readonly name: string;
  readonly hosts: 2 | 3;
  readonly faults: number;
  /** Whether reads are steps, too. Otherwise they are made at once and never fail. */
  readonly readsToo?: boolean;
  /** Whether a write that failed may still be done at any later time. */
  readonly lateWrites?: boolean;
  readonly plant?: Plant;
}

const READS = /^(find|list|history|counts|now)/;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/**
 * How much time passes before each pass of the background work. The first comes before any claim runs out, the second
 * after that, the third when an answer of "not found" can be confirmed, the last when the buyer's session is over.
 */
const PASSES_MS = [MINUTE_MS, 2 * MINUTE_MS, 15 * MINUTE_MS, 120 * MINUTE_MS];

/** One 3D payment whose buyer is at the bank. Every host is sent the bank's callback at once. */
export function callbacks(setup: Setup): Scenario {
  const { name, faults } = setup;
  const ending = 'Nothing fails any more. For hours hosts work in the background, and the buyer reloads the page.';
  return { name, faults, ending, begin: () => CallbackRun.begin(setup) };
}

/** It approves every Auth3d, and tells the truth to an inquiry. */
class Gateway extends FakeGateway {
  get charges(): number {
    return this.sent('Auth3d').length;
  }

  override approval(request: Pick<SentRequest, 'operation' | 'conversationId'>): Transmission {
    return request.operation === 'CheckPayment' && this.charges === 0 ? NOT_FOUND : super.approval(request);
  }
}

class CallbackRun implements Run {
  readonly clock = new TestClock();
  readonly gateway = new Gateway();
  readonly store: PaymentStore;
  conversationId = '';
  /** The events that handlers got: `version state`. */
  readonly handled: string[] = [];
  /** Whether a request was sent and never arrived. */
  hasDropped = false;
  private readonly broken: string[] = [];
  private readonly hosts: readonly ShopHost[];
  /** It begins the payment, and in the end does what a host that starts after a crash does: it knows nothing of theirs. */
  private readonly another: ShopHost;

  private constructor(readonly setup: Setup) {
    this.store = setup.plant?.makeStore?.(this.clock) ?? new MemoryPaymentStore({ clock: this.clock });
    this.hosts = ['A', 'B', 'C'].slice(0, setup.hosts).map((name) => new ShopHost(name, this));
    this.another = new ShopHost('another host', this);
  }

  static async begin(setup: Setup): Promise<CallbackRun> {
    const run = new CallbackRun(setup);
    for (const host of [...run.hosts, run.another]) await host.start();
    run.conversationId = (await run.another.flows.payments.init3d(sale())).conversationId;
    for (const host of run.hosts) {
      host.isHeld = true;
      void host.receiveCallback();
    }
    return run;
  }

  /** Hosts that have taken no step yet are all alike, so only the first of them goes on. */
  get choices(): readonly Choice[] {
    const unmoved = this.hosts.filter(({ hasMoved }) => !hasMoved).slice(1);
    const hosts = this.hosts.filter((host) => !unmoved.includes(host));
    return [...hosts.flatMap((host) => host.choices), ...timePasses(this.hosts, this.clock)];
  }

  async end(): Promise<readonly string[]> {
    for (const host of this.hosts) host.isHeld = false;
    for (const pass of PASSES_MS) {
      await this.clock.advance(pass);
      if (pass === PASSES_MS[0]) await this.checkAnswers('a minute later');
      void this.another.receiveCallback();
      for (const host of this.alive) void host.reconcile();
      await this.clock.advance(SECOND_MS);
    }
    for (const host of this.alive) void host.receiveCallback();
    await this.clock.advance(SECOND_MS);
    await this.checkAnswers('in the end');
    await this.checkPayment();
    await this.checkEvents();
    return this.broken;
  }

  check(holds: boolean, otherwise: string): void {
    if (!holds && !this.broken.includes(otherwise)) this.broken.push(otherwise);
  }

  /** Checks an answer as it is given. */
  async checkAnswer(name: string, { state, settled, stored }: Payment): Promise<void> {
    this.checkState(state, `${name} told the buyer ${state}`);
    const record = await this.stored();
    const isTrue = !settled || !stored || state === record.state;
    this.check(isTrue, `${name} told the buyer that ${state} is stored, and ${record.state} was`);
  }

  private get alive(): ShopHost[] {
    return [...this.hosts, this.another].filter(({ isDead }) => !isDead);
  }

  private stored(): Promise<PaymentRecord> {
    return this.store.find('default', this.conversationId) as Promise<PaymentRecord>;
  }

  /** An outcome must agree with the gateway's ledger. */
  private checkState(state: PaymentRecord['state'], what: string): void {
    const { charges } = this.gateway;
    const { settled, money } = rowOf(state);
    const isTrue = !settled || (money === 'yes') === charges > 0;
    this.check(isTrue, `${what}, and the card was ${charges === 0 ? 'not ' : ''}charged`);
  }

  /** An outcome that a living host told a buyer must be the stored one. */
  private async checkAnswers(when: string): Promise<void> {
    const { state } = await this.stored();
    for (const { name, told, unanswered } of this.alive) {
      this.check(unanswered === 0, `${name} has not answered a callback ${when}`);
      for (const payment of told.filter(({ settled }) => settled)) {
        this.check(payment.state === state, `${name} told the buyer ${payment.state}, and it is ${state} ${when}`);
      }
    }
  }

  private async checkPayment(): Promise<void> {
    const { charges } = this.gateway;
    const { state, reason } = await this.stored();
    this.check(charges <= 1, `the card was charged ${charges} times`);
    this.checkState(state, `the payment is ${state} in the end`);
    this.check(rowOf(state).settled, `the payment is ${state} (${reason}) in the end, although the gateway would tell`);
    const mayBeUnpaid = this.hosts.some(({ isDead }) => isDead) || this.hasDropped;
    this.check(charges > 0 || mayBeUnpaid, 'no host died, and the buyer could not complete the payment');
  }

  private async checkEvents(): Promise<void> {
    const history = await this.store.history('default', this.conversationId);
    const changes = history.filter(({ state }, index) => state !== history[index - 1]?.state);
    const published = changes.filter(({ state }) => rowOf(state).published);
    const events = published.map(({ version, state }) => `${version} ${state}`);
    for (const { state } of published) this.checkState(state, `the payment was ${state}`);
    for (const event of events)
      this.check(this.handled.includes(event), `no handler got the event of version ${event}`);
    for (const event of this.handled) this.check(events.includes(event), `a handler got what never was: ${event}`);
  }
}

class ShopHost extends Host {
  readonly flows: AssembledFlows;
  /** What buyers were told. */
  readonly told: Payment[] = [];
  unanswered = 0;
  private hasSent = false;

  constructor(
    name: string,
    private readonly run: CallbackRun,
  ) {
    super(name, run.clock);
    const store = interceptCalls(run.store, (call) => this.callStore(call));
    this.flows = assembleFlows({
      store: run.setup.plant?.wrapStore?.(store) ?? store,
      clock: this.clock,
      transport: { post: (request: WireRequest) => this.post(request) } as unknown as GatewayTransport,
      random: new SeededRandomness(name.charCodeAt(0)),
    });
  }

  async start(): Promise<void> {
    await this.flows.time.check();
    const types = EVENT_STATES.map((state) => `payment.${state}` as const);
    const handle = ({ payment }: PaymentEvent): number => this.run.handled.push(`${payment.version} ${payment.state}`);
    const handler = { id: 'orders', account: 'default', types, concurrency: 1, timeoutMs: null, handle };
    await this.flows.events.announce([handler]);
  }

  async receiveCallback(): Promise<void> {
    const { conversationId } = this.run;
    this.unanswered += 1;
    try {
      const payment = await this.flows.payments.auth3d({ conversationId, fields: { conversationId, mdStatus: '1' } });
      this.told.push(payment);
      await this.run.checkAnswer(this.name, payment);
    } catch (error) {
      const isRight = error instanceof PaymentStoreError && !this.hasSent;
      const sent = this.hasSent ? ', although it had sent Auth3d' : '';
      this.run.check(isRight, `${this.name} answered a callback with ${String(error)}${sent}`);
    }
    this.unanswered -= 1;
  }

  /** One pass of the background work. */
  async reconcile(): Promise<void> {
    try {
      await this.flows.payments.reconcile();
    } catch (error) {
      this.run.check(false, `${this.name} could not work in the background: ${String(error)}`);
    }
  }

  private callStore({ method, args, proceed }: StoreCall): Promise<unknown> {
    const fail = (): Promise<never> => Promise.reject(new Error('The store does not answer.'));
    const ends = { done: proceed, 'the store refuses it': fail };
    if (READS.test(method)) return this.run.setup.readsToo ? this.step(`asks the store to ${method}`, ends) : proceed();
    const { state, version } = args[0] as Partial<PaymentRecord>;
    const hasEvent = args.some((arg) => (arg as Partial<PaymentEvent> | undefined)?.eventId);
    const what = version ? `writes version ${version}, ${state}${hasEvent ? ', and its event' : ''}` : method;
    const later = (): Promise<never> => {
      this.happensLater(`the store, late: ${this.name} ${what}`, proceed);
      return fail();
    };
    return this.step(what, {
      ...ends,
      ...(this.run.setup.lateWrites && { 'the store fails, and does it later': later }),
      'done, but the answer is lost': () => proceed().then(fail),
      [`done, then ${this.name} dies`]: () => proceed().then(() => this.die()),
    });
  }

  private post(request: WireRequest): Promise<Transmission> {
    const operation = request.url.split('/').pop() ?? '';
    const send = (): Promise<Transmission> => {
      this.hasSent ||= operation === 'Auth3d';
      return this.run.gateway.post(request);
    };
    const drop = (): Promise<Transmission> => {
      this.hasSent ||= operation === 'Auth3d';
      this.run.hasDropped = true;
      return Promise.resolve(LOST);
    };
    return this.step(`sends ${operation}`, {
      done: send,
      'there is no connection': () => Promise.resolve(NOT_SENT),
      'it never arrives': drop,
      'done, but the answer is lost': () => send().then(() => LOST),
      [`done, then ${this.name} dies`]: () => send().then(() => this.die()),
    });
  }
}

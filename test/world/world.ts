import { type LedgerState, MemoryPaymentStore } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import type { AssembledFlows } from '../flows/assembled-flows.js';
import { isOpenRefund } from '../../lib/payment/refund-totals.js';
import { Chance } from '../rigs/chance.js';
import { BackOffice } from './back-office.js';
import { Customers } from './customers.js';
import { FINE_GATEWAY, type GatewayWeather, WorldGateway } from './gateway.js';
import { FINE_HANDLERS, HandlerWork, type HandlerWeather } from './handler-work.js';
import { ACCOUNT, Host, REFUNDS, type Surroundings, type Version } from './host.js';
import { FINE_STORE, type StoreWeather } from './store-line.js';
import { Trace } from './trace.js';
import { Witness } from './witness.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A fault that a test plants, to see that it is found. */
export interface Plant {
  readonly makeStore?: (clock: TestClock) => PaymentStore;
  readonly tamper?: (flows: AssembledFlows) => void;
}

/** The result of a run. */
export interface Run {
  readonly seed: number;
  readonly broken: readonly string[];
  readonly trace: readonly string[];
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** States in which a payment or refund waits for the process that opened or claimed it. */
const CLAIMED: ReadonlySet<LedgerState> = new Set([
  'charging',
  'initiating',
  'authorizing',
  'refunding',
  'pending',
  'unknown',
]);

/** A machine on which hosts run, one after the other. */
interface Place {
  readonly name: string;
  readonly background: boolean;
  /** How wrong its clock is, in milliseconds. */
  readonly aheadMs: number;
  host: Host | null;
}

const ACTS = {
  pay: 5,
  startBuyer: 5,
  callBack: 7,
  payAgain: 4,
  openPage: 5,
  visitPage: 5,
  giveUp: 1.5,
  inquire: 1,
  giveBack: 5,
  giveBackAgain: 1.5,
  useThePanel: 0.7,
  look: 2.5,
  kill: 0.8,
  stop: 0.5,
  suspend: 0.6,
  setClock: 0.3,
  deploy: 0.7,
  storeDown: 0.6,
  gatewayDown: 0.5,
  stall: 0.1,
} as const;
const REFUND_ACTS = ['giveBack', 'giveBackAgain', 'useThePanel', 'look'] as const;
const PAGE_ACTS = ['openPage', 'visitPage', 'giveUp'] as const;
const SLOW_SIGNS = 0.02;
/** A host that stalls runs again only after others have settled its payment. */
const MIN_STALL_MS = 12 * MINUTE_MS;

/** Several hosts of one shop, their store, the gateway, buyers and merchants. One seed decides all that happens. */
export class World {
  readonly clock = new TestClock();
  readonly trace = new Trace(this.clock);
  private readonly chance: Chance;
  private readonly gateway: WorldGateway;
  private readonly witness: Witness;
  private readonly work: HandlerWork;
  private readonly customers: Customers;
  private readonly backOffice: BackOffice;
  private readonly store: PaymentStore;
  private readonly around: Surroundings;
  private readonly places: Place[];
  private readonly hosts: Host[] = [];
  private readonly storeWeather: StoreWeather;
  private readonly gatewayWeather: GatewayWeather;
  private readonly sessionTtlMs: number;
  /** Whether buyers pay at the gateway's own page, too. */
  private readonly hasPages: boolean;

  constructor(
    readonly seed: number,
    { makeStore = (clock) => new MemoryPaymentStore({ clock }), tamper }: Plant = {},
  ) {
    const chance = new Chance(seed);
    const { clock, trace } = this;
    this.chance = chance;
    this.gateway = new WorldGateway(clock, chance, trace);
    this.hasPages = chance.happens(0.3);
    // A page that is paid late is found out as long as its payment is kept.
    const retentionMs = this.hasPages ? 0 : chance.oneOf([0, 2 * MINUTE_MS]);
    this.witness = new Witness(clock, this.gateway, trace, retentionMs);
    this.work = new HandlerWork(clock, chance, this.witness);
    this.store = this.witness.watch(makeStore(clock));
    this.sessionTtlMs = chance.oneOf([2, 5, 10]) * MINUTE_MS;
    const options = { sessionTtlMs: this.sessionTtlMs, retentionMs };
    const { gateway, store, work, witness } = this;
    const givesBack = chance.happens(0.5);
    this.around = { clock, chance, trace, gateway, store, work, options, givesBack, tamper, slowSigns: SLOW_SIGNS };
    this.customers = new Customers({ clock, chance, trace, gateway, witness, sessionTtlMs: this.sessionTtlMs });
    this.backOffice = new BackOffice({ clock, chance, trace, gateway, witness });
    this.places = Array.from({ length: chance.between(2, 3) }, (_, index) => ({
      name: 'ABC'.charAt(index),
      background: index === 0 || chance.happens(0.5),
      aheadMs: chance.oneOf([0, 0, -3, 3]) * HOUR_MS + chance.between(-300, 300),
      host: null,
    }));
    this.storeWeather = storeWeather(chance);
    this.gatewayWeather = gatewayWeather(chance);
  }

  /** Runs for a while, heals, and is checked. */
  async run(): Promise<Run> {
    try {
      await this.live();
      await this.heal();
    } finally {
      for (const host of this.hosts) host.kill();
    }
    return { seed: this.seed, broken: this.witness.broken, trace: this.trace.lines() };
  }

  private async live(): Promise<void> {
    const { chance } = this;
    this.gateway.weather = this.gatewayWeather;
    this.work.weather = handlerWeather(chance);
    const acts: Record<keyof typeof ACTS, number> = { ...ACTS };
    // A world without some of the faults has more of the others.
    for (const act of Object.keys(ACTS) as (keyof typeof ACTS)[]) {
      if (ACTS[act] < 1 && chance.happens(0.4)) acts[act] = 0;
    }
    if (this.around.givesBack) acts.giveBack *= chance.oneOf([1.5, 4]);
    else for (const act of REFUND_ACTS) acts[act] = 0;
    if (!this.hasPages) for (const act of PAGE_ACTS) acts[act] = 0;
    const steps = chance.between(15, 42);
    for (let step = 0; step < steps; step += 1) {
      for (const place of this.places) if (isEmpty(place) && chance.happens(0.6)) this.startHost(place, step / steps);
      await this.act(chance.weighted(acts), step / steps);
      await this.clock.advance(this.pause());
    }
  }

  private pause(): number {
    const { chance } = this;
    switch (chance.weighted({ none: 3, moment: 4, while: 3, long: 1 })) {
      case 'none':
        return 0;
      case 'moment':
        return chance.between(1, 500);
      case 'while':
        return chance.between(500, 8_000);
      case 'long':
        return chance.between(20_000, 90_000);
    }
  }

  private act(act: keyof typeof ACTS, progress: number): void | Promise<void> {
    const { chance, customers, backOffice } = this;
    const up = this.places.flatMap(({ host }) => (host?.isUp ? [host] : []));
    if (up.length === 0) return;
    const host = chance.oneOf(up);
    switch (act) {
      case 'pay':
        return customers.pay(host);
      case 'startBuyer':
        return customers.startBuyer(host);
      case 'callBack':
        return customers.callBack(() => this.anyHost());
      case 'payAgain':
        return customers.payAgain(host);
      case 'openPage':
        return customers.openPage(host);
      case 'visitPage':
        return customers.visitPage(() => this.anyHost());
      case 'giveUp':
        return customers.giveUp(host);
      case 'inquire':
        return customers.inquire(host);
      case 'giveBack':
        return backOffice.giveBack(() => this.anyHost());
      case 'giveBackAgain':
        return backOffice.giveBackAgain(() => this.anyHost());
      case 'useThePanel':
        return backOffice.useThePanel(host);
      case 'look':
        return backOffice.look(host);
      case 'kill':
        this.trace.add(() => `${host.name} is killed`);
        return host.kill();
      case 'stop':
        return this.stop(host);
      case 'suspend':
        return this.suspend(host);
      case 'setClock':
        host.clock.aheadMs = chance.oneOf([0, -3, 3]) * HOUR_MS;
        return this.trace.add(() => `${host.name} has its clock set ${host.clock.aheadMs / HOUR_MS} h ahead`);
      case 'deploy':
        this.stop(host);
        return this.startHost(
          this.places.find((place) => place.host === host)!,
          progress + 0.3,
        );
      case 'storeDown':
        return this.storeDown(chance.happens(0.5) ? [host] : up);
      case 'gatewayDown':
        return this.gatewayDown();
      case 'stall':
        return this.stall(host);
    }
  }

  private anyHost(): Host | null {
    const up = this.places.flatMap(({ host }) => (host?.isUp ? [host] : []));
    return up.length === 0 ? null : this.chance.oneOf(up);
  }

  private startHost(place: Place, progress: number): void {
    const version: Version = this.chance.happens(progress) ? 2 : 1;
    place.host = this.addHost(place, version, this.storeWeather);
    const { host } = place;
    this.trace.add(() => `${host.name} starts${place.background ? ', with background' : ''}`);
    void host.start();
  }

  private addHost(place: Omit<Place, 'host'>, version: Version, weather: StoreWeather): Host {
    const name = `${place.name}${this.hosts.length}`;
    const host = new Host({ ...place, name, version, weather }, this.around);
    this.hosts.push(host);
    return host;
  }

  private stop(host: Host): void {
    this.trace.add(() => `${host.name} is asked to stop`);
    void host.stop();
    // A host that does not stop is killed.
    void this.clock.sleep(this.chance.between(1, MINUTE_MS)).then(() => host.kill());
  }

  private suspend({ name, life }: Host): void {
    const ms = this.chance.between(500, this.chance.oneOf([5_000, 40_000, 150_000]));
    this.trace.add(() => `${name} is suspended for ${ms} ms`);
    life.suspend();
    void this.clock.sleep(ms).then(() => life.resume());
  }

  /** A host is suspended for a long time in the middle of a payment or refund. */
  private async stall(host: Host): Promise<void> {
    const { chance, customers, backOffice } = this;
    if (this.around.givesBack && chance.happens(0.3)) backOffice.giveBack(() => host);
    else if (chance.happens(0.5)) customers.pay(host);
    else customers.callBack(() => host);
    this.around.slowSigns = 0.5;
    await this.clock.advance(chance.between(0, chance.oneOf([0, 100, 5_000])));
    this.around.slowSigns = SLOW_SIGNS;
    const ms = MIN_STALL_MS + chance.between(0, 8 * MINUTE_MS);
    this.trace.add(() => `${host.name} stalls for ${ms} ms`);
    host.life.suspend();
    await this.clock.advance(ms);
    host.life.resume();
  }

  private storeDown(hosts: readonly Host[]): void {
    const ms = this.chance.between(500, this.chance.oneOf([5_000, 40_000]));
    this.trace.add(() => `the store is down for ${hosts.map(({ name }) => name).join(' and ')}, ${ms} ms`);
    for (const { line } of hosts) line.isDown = true;
    void this.clock.sleep(ms).then(() => hosts.forEach(({ line }) => (line.isDown = false)));
  }

  private gatewayDown(): void {
    const ms = this.chance.between(500, 60_000);
    this.trace.add(() => `the gateway is down for ${ms} ms`);
    this.gateway.weather = this.chance.oneOf([
      { ...FINE_GATEWAY, answered: 0, notSent: 1 },
      { ...FINE_GATEWAY, answered: 0, lostBefore: 1, lostAfter: 1 },
    ]);
    void this.clock.sleep(ms).then(() => (this.gateway.weather = this.gatewayWeather));
  }

  /** Everything works again, and only the newest version runs. */
  private async heal(): Promise<void> {
    this.trace.add(() => 'everything heals');
    this.storeWeatherIs(FINE_STORE);
    this.work.weather = FINE_HANDLERS;
    this.work.release();
    for (const { life } of this.hosts) life.resume();
    // Writes that were late may still be done.
    await this.clock.advance(MINUTE_MS);
    this.gateway.weather = FINE_GATEWAY;
    this.gateway.vague = 0;
    this.around.slowSigns = 0;
    this.checkOwed();
    await this.replaceHosts();
    await this.checkBackground();
    await this.settle();
  }

  private storeWeatherIs(weather: StoreWeather): void {
    for (const { line } of this.hosts) {
      line.weather = weather;
      line.isDown = false;
    }
  }

  /** A minute after the store is back, no write is owed, and writes that it did not confirm are fenced. */
  private checkOwed(): void {
    const { witness } = this;
    for (const { name, flows, line, life } of this.hosts) {
      if (life.isDead) continue;
      if (flows.owed.count > 0) witness.breaks(`${name} still owes ${flows.owed.count} writes`);
      for (const [attemptId, conversationId] of line.unconfirmed) {
        const record = witness.recordOf(attemptId, conversationId);
        if (!record || !CLAIMED.has(record.state)) continue;
        witness.breaks(`${conversationId} was not confirmed to ${name}, and is ${record.state}`);
      }
    }
  }

  private async replaceHosts(): Promise<void> {
    const alive = this.hosts.filter(({ life }) => !life.isDead);
    for (const host of alive) if (!host.isStopping) void host.stop();
    await this.clock.advance(MINUTE_MS);
    for (const { name, life } of alive) if (!life.isDead) this.witness.breaks(`${name} does not stop`);
  }

  /** One host works in the background, and is killed. */
  private async checkBackground(): Promise<void> {
    const host = this.addHost({ name: 'Y', background: true, aheadMs: 0 }, 2, FINE_STORE);
    void host.start();
    await this.clock.advance(5 * SECOND_MS);
    for (const account of [ACCOUNT, REFUNDS]) {
      const { waitingEvents } = await this.store.counts(account);
      if (waitingEvents > 0)
        this.witness.breaks(`${account}: ${waitingEvents} events wait, with a host that works in the background`);
    }
    host.kill();
  }

  /** The background work settles what it can, an operator the rest. */
  private async settle(): Promise<void> {
    const place = { name: 'Z', background: false, aheadMs: 0 };
    const host = this.addHost(place, 2, FINE_STORE);
    await this.see(host.start());
    await this.pass(host, (refund) => this.needsPerson(refund));
    if (this.hasPages) {
      this.customers.payLate();
      await this.pass(host, (refund) => this.needsPerson(refund));
      await this.see(this.resolveLatePages(host));
      await this.pass(host, (refund) => this.needsPerson(refund));
    }
    if (this.around.givesBack) {
      this.checkLeft();
      await this.see(this.backOffice.finish(host));
      await this.pass(host, () => false);
      await this.see(this.backOffice.checkTotals(host));
    }
    await this.checkEnd();
    this.gateway.declines = 0;
    await this.see(this.customers.checkReferences(host));
  }

  /** An operator looks at each payment whose page was paid after it had ended. */
  private async resolveLatePages(host: Host): Promise<void> {
    for (const conversationId of this.witness.movedLate) {
      await host.payments.resolve(conversationId, 'succeeded', 'as the panel shows');
    }
  }

  /** Whether a page was paid after it had ended, and the module does not know it yet. */
  private hasHiddenCharge(): boolean {
    const { records } = this.witness;
    return [...records.values()].some(
      ({ conversationId, state }) => state === 'expired' && this.gateway.isCharged(conversationId),
    );
  }

  /**
   * Passes of the background work, as a cron job makes them, with ever more time between.
   *
   * @param isLeft whether a refund may stay open
   */
  private async pass(host: Host, isLeft: (refund: PaymentRecord) => boolean): Promise<void> {
    for (let pauseMs = 15 * SECOND_MS, passes = 0; passes < 20; passes += 1) {
      await this.see(host.payments.reconcile());
      if (await this.isSettled(isLeft)) break;
      await this.clock.advance(pauseMs);
      pauseMs = Math.min(pauseMs * 2, 4 * HOUR_MS);
    }
  }

  /** Lets time pass until something has ended. */
  private async see(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    void work.then(
      () => (isOver = true),
      (error: unknown) => {
        isOver = true;
        this.witness.breaks(`after everything healed: ${String(error)}`);
      },
    );
    for (let tries = 0; !isOver && tries < 2_000; tries += 1) await this.clock.advance(50);
    if (!isOver) this.witness.breaks('something hangs after everything healed');
  }

  private async isSettled(isLeft: (refund: PaymentRecord) => boolean): Promise<boolean> {
    const { states } = await this.store.counts(ACCOUNT);
    const inReview = [...this.witness.movedLate].filter(
      (id) => this.witness.records.get(id)?.state === 'review',
    ).length;
    const open = Object.values(states).reduce((sum, { count }) => sum + count, 0) - inReview;
    if (this.hasPages && this.hasHiddenCharge()) return false;
    const refunds = [...this.witness.refunds.values()].filter(isOpenRefund);
    return open === 0 && refunds.every(isLeft) && (await this.undelivered()).length === 0;
  }

  /** Of a refund, the module can find out only that it was given back, from a gateway that knows it. */
  private needsPerson({ state, conversationId }: PaymentRecord): boolean {
    const isTold = this.gateway.refundInquiry === 'refund' && this.gateway.refunds.isGivenBack(conversationId);
    return state === 'review' || (state === 'unknown' && !isTold);
  }

  private checkLeft(): void {
    for (const [refundId, refund] of this.witness.refunds) {
      if (!isOpenRefund(refund) || this.needsPerson(refund)) continue;
      this.witness.breaks(`refund ${refundId} is ${refund.state}, although the gateway would tell`);
    }
  }

  private async undelivered(): Promise<string[]> {
    const lines: string[] = [];
    for (const account of [ACCOUNT, REFUNDS]) {
      const { openDeliveries, parkedDeliveries, waitingEvents } = await this.store.counts(account);
      if (openDeliveries + parkedDeliveries + waitingEvents === 0) continue;
      lines.push(
        `${account}: ${openDeliveries} deliveries are open, ${parkedDeliveries} parked, ${waitingEvents} events wait`,
      );
    }
    return lines;
  }

  private async checkEnd(): Promise<void> {
    const { witness, gateway } = this;
    for (const line of await this.undelivered()) witness.breaks(line);
    for (const [conversationId, { state, reason }] of witness.records) {
      const isCharged = gateway.isCharged(conversationId);
      const isRight = isCharged ? state === 'succeeded' : state === 'failed' || state === 'expired';
      const is = isCharged ? 'charged' : 'not charged';
      if (!isRight) witness.breaks(`${conversationId} was ${is} and is ${state} (${reason})`);
      if (isCharged && witness.saidUnpaid.has(conversationId) && !witness.movedLate.has(conversationId)) {
        witness.breaks(`${conversationId} was charged, and was reported as unpaid`);
      }
    }
    for (const { conversationId, arrivals } of gateway.sales.values()) {
      if (arrivals > 1) witness.breaks(`${conversationId} was sent ${arrivals} times`);
      if (!witness.records.has(conversationId)) witness.breaks(`${conversationId} was sent, and never stored`);
    }
    for (const event of witness.events) {
      for (const handlerId of witness.owedTo(event)) {
        const { eventId, type } = event.event;
        if (!witness.handled.has(`${handlerId} ${eventId}`)) {
          witness.breaks(`${handlerId} never handled ${eventId} ${type}`);
        }
      }
    }
    this.customers.checkCharges();
    this.customers.checkThrown();
    this.backOffice.checkEnd();
  }
}

/** No host, or one that is gone, or on its way out. */
function isEmpty({ host }: Place): boolean {
  return host === null || host.life.isDead;
}

function storeWeather(chance: Chance): StoreWeather {
  const trouble = chance.oneOf([0, 0.02, 0.1, 0.25]);
  return {
    prompt: 1,
    slow: chance.oneOf([0, 0.1, 0.5]),
    refused: trouble * chance.fraction(),
    lost: trouble * chance.fraction(),
    late: trouble * chance.fraction(),
  };
}

function gatewayWeather(chance: Chance): GatewayWeather {
  const trouble = chance.oneOf([0.05, 0.3, 1]);
  return {
    answered: 1,
    notSent: trouble * chance.fraction(),
    lostBefore: trouble * chance.fraction(),
    lostAfter: trouble * chance.fraction(),
    slow: trouble * chance.fraction(),
    serverError: trouble * chance.fraction(),
  };
}

function handlerWeather(chance: Chance): HandlerWeather {
  const trouble = chance.oneOf([0.1, 0.5]);
  return {
    done: 1,
    slow: trouble * chance.fraction(),
    long: trouble * chance.fraction(),
    fails: trouble * chance.fraction(),
    hangs: (trouble * chance.fraction()) / 3,
  };
}

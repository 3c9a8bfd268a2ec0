import {
  type DoPaymentDto,
  type Payment,
  PaymentDuplicateError,
  PaymentError,
  type PaymentService,
  PaymentStoreError,
} from 'nestjs-card-payment';
import type { TestClock } from 'nestjs-card-payment/testing';
import { sampleInput } from '../dto/sample-input.js';
import type { Chance } from '../rigs/chance.js';
import type { WorldGateway } from './gateway.js';
import type { Host } from './host.js';
import type { Trace } from './trace.js';
import type { Witness } from './witness.js';

interface Surroundings {
  readonly clock: TestClock;
  readonly chance: Chance;
  readonly trace: Trace;
  readonly gateway: WorldGateway;
  readonly witness: Witness;
  readonly sessionTtlMs: number;
}

/** What a merchant asks for. */
interface Order {
  readonly conversationId: string;
  readonly kind: 'direct' | '3d' | 'hosted';
  readonly reference: string | null;
  readonly allowRepeat: boolean;
  readonly idempotencyKey: string | null;
  readonly firstAskedAt: number;
  /** How often it was asked for. */
  times: number;
}

/** A conversationId is repeated only within this time, since payments are purged later. */
const REPEATED_WITHIN_MS = 100_000;
const REFERENCES = ['order-1', 'order-2', 'order-3'];
const MAX_RELOADS = 3;
const RELOAD_AFTER_MS = 2_000;

/** Merchants that take payments, and buyers who return from the bank. They repeat what failed. */
export class Customers {
  private readonly orders: Order[] = [];
  /** 3D payments whose buyer is at the bank. */
  private readonly atTheBank: Order[] = [];
  /** The gateway's own pages that buyers were sent to. */
  private readonly atPages = new Set<string>();
  /** Orders for which a call threw. */
  private readonly thrown: Order[] = [];

  constructor(private readonly around: Surroundings) {}

  pay(host: Host): void {
    this.ask(host, this.newOrder('direct'));
  }

  startBuyer(host: Host): void {
    this.ask(host, this.newOrder('3d'));
  }

  openPage(host: Host): void {
    const { chance } = this.around;
    const pages = this.orders.filter(({ kind }) => kind === 'hosted');
    if (pages.length === 0 || chance.happens(0.7)) return this.ask(host, this.newOrder('hosted'));
    // The buyer presses the button again, in the same session or in a new one.
    const { reference, allowRepeat } = chance.oneOf(pages);
    this.ask(host, this.add({ ...this.newOrder('hosted'), reference, allowRepeat }));
  }

  /** A buyer pays at the gateway's own page, is declined, or leaves, and comes back or not. */
  visitPage(anyHost: () => Host | null): void {
    const { chance, gateway } = this.around;
    if (this.atPages.size === 0) return;
    const conversationId = chance.oneOf([...this.atPages]);
    if (chance.happens(0.8)) gateway.payAtPage(conversationId);
    for (let copies = chance.oneOf([0, 1, 1, 2]); copies > 0; copies -= 1) {
      const host = anyHost();
      if (host) void this.comeBack(host, conversationId);
    }
  }

  /** A buyer goes back to the shop, which gives the page up. */
  giveUp(host: Host): void {
    if (this.atPages.size === 0) return;
    const conversationId = this.around.chance.oneOf([...this.atPages]);
    void this.follow(host, `abandon ${conversationId}`, (payments) => payments.abandon(conversationId));
  }

  /** Pages that were left open are paid after they have ended, and nobody comes back. */
  payLate(): void {
    const { chance, gateway } = this.around;
    for (const conversationId of this.atPages) if (chance.happens(0.3)) gateway.payAtPage(conversationId);
  }

  /** The same call again, or another attempt with the same key. */
  payAgain(host: Host): void {
    const { chance } = this.around;
    const { now } = this.around.witness;
    const recent = this.orders.filter(({ firstAskedAt }) => now - firstAskedAt < REPEATED_WITHIN_MS);
    if (recent.length > 0 && chance.happens(0.5)) return this.ask(host, chance.oneOf(recent));
    const withKey = this.orders.filter(({ idempotencyKey }) => idempotencyKey !== null);
    if (withKey.length === 0) return;
    const order = this.newOrder('direct');
    const { kind, reference, allowRepeat, idempotencyKey } = chance.oneOf(withKey);
    this.ask(host, this.add({ ...order, kind, reference, allowRepeat, idempotencyKey }));
  }

  /** A buyer returns from the bank, perhaps with several copies of the callback, and reloads an error page. */
  callBack(anyHost: () => Host | null): void {
    const { chance } = this.around;
    if (this.atTheBank.length === 0) return;
    const order = chance.oneOf(this.atTheBank);
    for (let copies = chance.oneOf([1, 1, 1, 2, 3]); copies > 0; copies -= 1) {
      const host = anyHost();
      if (host) void this.bringBack(order, host, anyHost, MAX_RELOADS);
    }
  }

  inquire(host: Host): void {
    if (this.orders.length === 0) return;
    const { conversationId } = this.around.chance.oneOf(this.orders);
    void this.follow(host, `inquire ${conversationId}`, (payments) => payments.inquire(conversationId));
  }

  /** A call that threw has sent nothing. */
  checkThrown(): void {
    const { witness, gateway } = this.around;
    for (const { conversationId, times } of this.thrown) {
      if (times === 1 && gateway.sales.has(conversationId)) witness.breaks(`${conversationId} threw, and was sent`);
    }
  }

  /** At most one payment of a reference was charged, and at most one payment of a key was sent. */
  checkCharges(): void {
    const { gateway, witness } = this.around;
    const charges = new Map<string, number>();
    const add = (what: string, times: number): unknown => charges.set(what, (charges.get(what) ?? 0) + times);
    for (const { conversationId, reference, allowRepeat, idempotencyKey } of this.orders) {
      const sale = gateway.sales.get(conversationId);
      if (!sale) continue;
      // A page that was left open may be paid after its payment has ended, which is told.
      const isLate = witness.movedLate.has(conversationId);
      if (reference !== null && !allowRepeat && !isLate) add(`${reference} was charged`, sale.charges);
      if (idempotencyKey !== null) add(`${idempotencyKey} was sent`, sale.arrivals);
    }
    for (const [what, times] of charges) if (times > 1) witness.breaks(`${what} ${times} times`);
  }

  /** A reference that was charged cannot be paid again, and any other can. */
  async checkReferences(host: Host): Promise<void> {
    const { gateway, witness } = this.around;
    for (const reference of new Set(this.orders.map((order) => order.reference))) {
      if (reference === null) continue;
      const isTaken = this.orders.some(
        (order) => order.reference === reference && !order.allowRepeat && gateway.isCharged(order.conversationId),
      );
      const { state } = await host.payments.doPayment({ ...someInput(), reference });
      if ((state === 'succeeded') === isTaken) {
        witness.breaks(`${reference} is ${isTaken ? 'taken' : 'free'}, and a payment of it ended ${state}`);
      }
    }
  }

  private newOrder(kind: Order['kind']): Order {
    const { chance, witness } = this.around;
    return this.add({
      kind,
      conversationId: `PAY${String(this.orders.length).padStart(17, '0')}`,
      reference: chance.oneOf([null, ...REFERENCES]),
      allowRepeat: chance.happens(0.1),
      idempotencyKey: chance.happens(0.5) ? `key-${this.orders.length}` : null,
      firstAskedAt: witness.now,
      times: 0,
    });
  }

  private add(order: Order): Order {
    const known = this.orders.findIndex(({ conversationId }) => conversationId === order.conversationId);
    if (known === -1) this.orders.push(order);
    else this.orders[known] = order;
    return order;
  }

  private ask(host: Host, order: Order): void {
    const { witness, sessionTtlMs } = this.around;
    const { conversationId, kind, reference, allowRepeat, idempotencyKey } = order;
    order.times += 1;
    if (!witness.expiresAt.has(conversationId)) witness.expiresAt.set(conversationId, witness.now + sessionTtlMs);
    const input = {
      ...someInput(),
      conversationId,
      allowRepeat,
      reference: reference ?? undefined,
      idempotencyKey: idempotencyKey ?? undefined,
    };
    const what = `${kind} ${conversationId} ${reference ?? '-'} ${idempotencyKey ?? '-'}`;
    void this.follow(
      host,
      what,
      async (payments) => {
        if (kind === 'direct') return payments.doPayment(input);
        if (kind === 'hosted') return this.startHosted(payments, input);
        const { payment } = await payments.init3d(input);
        this.atTheBank.push(order);
        return payment;
      },
      (error) => {
        // A page that is open already is another call's.
        if (kind !== 'hosted' && !(error instanceof PaymentDuplicateError)) this.thrown.push(order);
      },
    );
  }

  private async startHosted(payments: PaymentService, input: DoPaymentDto): Promise<Payment> {
    const { witness, gateway } = this.around;
    const { cardDetails: _card, cardHolderInfo: _holder, paymentMethod: _method, ...sale } = input;
    const { conversationId, redirectUrl, payment } = await payments.startHosted(sale);
    const page = gateway.pages.get(conversationId);
    if (page?.address !== redirectUrl) witness.breaks(`${conversationId} leads to ${redirectUrl}`);
    this.atPages.add(conversationId);
    return payment;
  }

  private async comeBack(host: Host, conversationId: string): Promise<void> {
    const { token } = this.around.gateway.pages.get(conversationId)!;
    await this.follow(host, `return ${conversationId}`, () => host.flows.receiver.complete(token, {}));
  }

  private async bringBack(order: Order, host: Host, anyHost: () => Host | null, reloads: number): Promise<void> {
    const { conversationId } = order;
    const fields = { Code: 'B0000', conversationId };
    const errors: unknown[] = [];
    const call = (payments: PaymentService) => payments.auth3d({ conversationId, fields });
    await this.follow(host, `callback ${conversationId}`, call, (error) => void errors.push(error));
    if (reloads === 0 || !(errors[0] instanceof PaymentStoreError)) return;
    await this.around.clock.sleep(RELOAD_AFTER_MS);
    const next = anyHost();
    if (next) await this.bringBack(order, next, anyHost, reloads - 1);
  }

  /** Makes a call, and checks its answer. */
  private async follow(
    host: Host,
    what: string,
    call: (payments: PaymentService) => Promise<Payment>,
    onError: (error: PaymentError) => void = () => undefined,
  ): Promise<void> {
    const { trace, witness } = this.around;
    trace.add(() => `${host.name} ${what}`);
    try {
      const { conversationId, state, stored } = await host.request(call);
      trace.add(() => `${host.name} ${what}: ${conversationId} ${state}${stored ? '' : ', not stored'}`);
      if (state === 'failed' || state === 'expired') witness.saidUnpaid.add(conversationId);
      if (state === 'succeeded' && !this.around.gateway.isCharged(conversationId)) {
        witness.breaks(`${conversationId} is answered as succeeded, and was not charged`);
      }
    } catch (error) {
      trace.add(() => `${host.name} ${what}: ${(error as Error).name}`);
      if (error instanceof PaymentError) onError(error);
      else witness.breaks(`${what} threw ${String(error)}`);
    }
  }
}

function someInput(): DoPaymentDto {
  return sampleInput() as unknown as DoPaymentDto;
}

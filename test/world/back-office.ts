import {
  PaymentDuplicateError,
  PaymentError,
  PaymentNotFoundError,
  type PaymentService,
  type Refund,
  type RefundKind,
} from 'nestjs-card-payment';
import type { TestClock } from 'nestjs-card-payment/testing';
import { isOpenRefund } from '../../lib/payment/refund-totals.js';
import type { Chance } from '../rigs/chance.js';
import type { WorldGateway } from './gateway.js';
import type { Host } from './host.js';
import { amountOf, SALE_UNITS, unitsOf } from './refund-ledger.js';
import type { Trace } from './trace.js';
import type { Witness } from './witness.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

interface Surroundings {
  readonly clock: TestClock;
  readonly chance: Chance;
  readonly trace: Trace;
  readonly gateway: WorldGateway;
  readonly witness: Witness;
}

/** What someone in the back office asks for. */
interface Wish {
  readonly kind: RefundKind;
  readonly conversationId: string;
  /** Undefined for all that is left. */
  readonly amount: string | undefined;
  readonly refundId: string | undefined;
  readonly idempotencyKey: string | undefined;
}

type Hosts = () => Host | null;

const AMOUNTS = ['0.90', '9.90', '20.00', '49.90', '100.00', '150.00', undefined];
/** Most refunds are of a few payments, so that they meet. */
const RECENT = 5;
const MAX_REPEATS = 2;
const REPEAT_AFTER_MS = 3_000;
/** An operator looks at the panel only when all that was sent has been decided there. */
const DECIDED_AFTER_MS = 30_000;

/** People of the shop who give money back, here or at the gateway's panel, and operators who settle what is unknown. */
export class BackOffice {
  private readonly wishes: Wish[] = [];
  /** The calls that threw. */
  private readonly thrown = new Set<string>();
  private calls = 0;
  private refundIds = 0;

  constructor(private readonly around: Surroundings) {}

  /** Someone refunds or voids a payment, perhaps with a double click, or at the same time as someone else. */
  giveBack(anyHost: Hosts): void {
    const { chance } = this.around;
    const conversationId = this.somePayment();
    if (conversationId === null) return;
    const wish = this.newWish(conversationId);
    this.ask(anyHost, wish);
    const other = chance.weighted({ nobody: 2, again: 1, another: 1 });
    if (other !== 'nobody') this.ask(anyHost, other === 'again' ? wish : this.newWish(conversationId));
  }

  /** The same call again, or another one with its key. */
  giveBackAgain(anyHost: Hosts): void {
    const { chance } = this.around;
    if (this.wishes.length === 0) return;
    const earlier = chance.oneOf(this.wishes);
    if (chance.happens(0.7)) return this.ask(anyHost, earlier);
    this.ask(anyHost, { ...this.newWish(earlier.conversationId), idempotencyKey: earlier.idempotencyKey });
  }

  /** Someone gives money back at the gateway's panel, and records it, or tries again to record what was given there. */
  useThePanel(host: Host): void {
    const { chance, gateway, trace } = this.around;
    const { atPanel } = gateway.refunds;
    const conversationId = this.somePayment();
    if (conversationId === null) return;
    const key = `panel-${atPanel.size}`;
    const units = chance.oneOf([990, SALE_UNITS]);
    if (gateway.refunds.giveBackAtPanel(key, conversationId, units)) {
      trace.add(() => `panel: ${key} gives back ${amountOf(units)} of ${conversationId}`);
    }
    if (atPanel.size > 0) void this.record(host, chance.oneOf([...atPanel.keys()]));
  }

  /** An operator asks about an open refund, or looks at the panel and settles it. */
  look(host: Host): void {
    const { chance, clock, witness } = this.around;
    const open = [...witness.refunds.values()].filter(isOpenRefund);
    if (open.length === 0) return;
    const { conversationId, updatedAt } = chance.oneOf(open);
    const isDecided = clock.now().getTime() - updatedAt.getTime() > DECIDED_AFTER_MS;
    if (isDecided && chance.happens(0.7)) void this.resolve(host, conversationId, false);
    else
      void this.follow(host, `inquireRefund ${conversationId}`, (payments) => payments.inquireRefund(conversationId));
  }

  /** Settles all that only a person can, and records all that was given back at the panel. */
  async finish(host: Host): Promise<void> {
    const { witness, gateway } = this.around;
    for (const [refundId, record] of witness.refunds) {
      if (isOpenRefund(record)) await this.resolve(host, refundId, true);
    }
    for (const key of gateway.refunds.atPanel.keys()) await this.record(host, key);
  }

  /** Every refund is settled, as the gateway's ledger says. */
  checkEnd(): void {
    const { witness, gateway } = this.around;
    for (const [refundId, { state, reason, kind, reference, amount }] of witness.refunds) {
      const isGiven = witness.isGivenBack(refundId);
      const is = isGiven ? 'given back' : 'not given back';
      if (state !== 'succeeded' && state !== 'failed') {
        witness.breaks(`refund ${refundId} was ${is}, and is ${state} (${reason})`);
      }
      const sent = gateway.refunds.requested.get(refundId);
      if (!sent) continue;
      if (isGiven !== (state === 'succeeded'))
        witness.breaks(`refund ${refundId} was ${is}, and is ${state} (${reason})`);
      if (isGiven && witness.saidFailed.has(refundId)) {
        witness.breaks(`refund ${refundId} was given back, and was reported as failed`);
      }
      if (sent.kind !== kind || sent.conversationId !== reference || sent.units !== unitsOf(amount)) {
        witness.breaks(`refund ${refundId} is ${kind} of ${amount} of ${reference}, and was sent as another one`);
      }
    }
    this.checkKeys();
    this.checkThrown();
  }

  /** What the shop says was given back is what the gateway gave back. */
  async checkTotals(host: Host): Promise<void> {
    const { witness, gateway } = this.around;
    for (const { conversationId } of gateway.sales.values()) {
      if (!gateway.isCharged(conversationId)) continue;
      const totals = await host.payments.refundTotals(conversationId).catch(unlessDeleted);
      if (totals === null) continue;
      const given = gateway.refunds.givenOf(conversationId);
      const left = gateway.refunds.takenOf(conversationId) - given;
      const { refunded, open, refundable } = totals;
      if (unitsOf(refunded) === given && unitsOf(open) === 0 && unitsOf(refundable) === left) continue;
      const said = `${refunded} given back, ${open} open, ${refundable} left`;
      witness.breaks(`of ${conversationId} ${amountOf(given)} was given back, and is known as ${said}`);
    }
  }

  /** At most one refund of a key was sent, and what was given back at the panel was recorded once. */
  private checkKeys(): void {
    const { witness, gateway } = this.around;
    const { requested, atPanel } = gateway.refunds;
    const sent = new Map<string, number>();
    const recorded = new Map<string, number>();
    for (const [refundId, { idempotencyKey }] of witness.opened) {
      if (idempotencyKey === null) continue;
      if (requested.has(refundId)) count(sent, idempotencyKey);
      if (atPanel.has(idempotencyKey) && witness.refunds.get(refundId)?.state === 'succeeded') {
        count(recorded, idempotencyKey);
      }
    }
    for (const [key, times] of sent) if (times > 1) witness.breaks(`${key}: ${times} refunds of it were sent`);
    for (const [key, times] of recorded) if (times > 1) witness.breaks(`${key} was recorded ${times} times`);
  }

  /** The refund that a call opened was not sent if the call threw. */
  private checkThrown(): void {
    const { witness, gateway } = this.around;
    for (const [refundId, { by }] of witness.opened) {
      if (this.thrown.has(by ?? '') && gateway.refunds.requested.has(refundId)) {
        witness.breaks(`refund ${refundId} was sent, although ${by} threw`);
      }
    }
  }

  private somePayment(): string | null {
    const { chance, witness } = this.around;
    const isPaid = ({ state }: PaymentRecord): boolean => state === 'succeeded';
    const paid = [...witness.records.values()].filter(isPaid).slice(-RECENT);
    // Any other is refused.
    const candidates = chance.happens(0.95) ? paid : [...witness.records.values()];
    return candidates.length === 0 ? null : chance.oneOf(candidates).conversationId;
  }

  private newWish(conversationId: string): Wish {
    const { chance, witness } = this.around;
    this.refundIds += 1;
    const kind = chance.happens(0.1) ? 'void' : 'refund';
    // By mistake, someone may pass a payment's id.
    const refundId = chance.happens(0.03)
      ? chance.oneOf([...witness.records.keys(), conversationId])
      : `REF${String(this.refundIds).padStart(17, '0')}`;
    const wish = {
      kind,
      conversationId,
      amount: kind === 'refund' ? chance.oneOf(AMOUNTS) : undefined,
      refundId: chance.happens(0.5) ? refundId : undefined,
      idempotencyKey: chance.happens(0.6) ? `refund-key-${this.refundIds}` : undefined,
    } as const;
    this.wishes.push(wish);
    return wish;
  }

  private ask(anyHost: Hosts, wish: Wish, repeats = MAX_REPEATS): void {
    const { chance, clock } = this.around;
    const { kind, amount, ...rest } = wish;
    const host = anyHost();
    if (!host) return;
    const by = this.newCall();
    const what = `${by}: ${kind} ${Object.values(wish).slice(1).join(' ')}`;
    const call = (payments: PaymentService): Promise<Refund> =>
      kind === 'void' ? payments.void({ ...rest, by }) : payments.refund({ ...rest, amount, by });
    void this.follow(host, what, call, async (error) => {
      this.thrown.add(by);
      if (error instanceof PaymentDuplicateError || repeats === 0 || chance.happens(0.5)) return;
      await clock.sleep(REPEAT_AFTER_MS);
      this.ask(anyHost, wish, repeats - 1);
    });
  }

  private async record(host: Host, idempotencyKey: string): Promise<void> {
    const { atPanel } = this.around.gateway.refunds;
    const { conversationId, units } = atPanel.get(idempotencyKey)!;
    const by = this.newCall();
    const input = { conversationId, amount: amountOf(units), idempotencyKey, note: 'at the panel', by };
    await this.follow(host, `${by}: record ${idempotencyKey}`, (payments) => payments.recordRefund(input));
  }

  private async resolve(host: Host, refundId: string, force: boolean): Promise<void> {
    const state = this.around.witness.isGivenBack(refundId) ? 'succeeded' : 'failed';
    const call = (payments: PaymentService): Promise<Refund> =>
      payments.resolveRefund(refundId, state, 'as the panel shows', { force });
    await this.follow(host, `resolveRefund ${refundId} ${state}`, call);
  }

  private newCall(): string {
    this.calls += 1;
    return `call-${this.calls}`;
  }

  /** Makes a call, and checks its answer. */
  private async follow(
    host: Host,
    what: string,
    call: (payments: PaymentService) => Promise<Refund>,
    onError: (error: PaymentError) => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const { trace, witness } = this.around;
    trace.add(() => `${host.name} ${what}`);
    try {
      const { refundId, state, stored } = await host.request(call);
      trace.add(() => `${host.name} ${what}: ${refundId} ${state}${stored ? '' : ', not stored'}`);
      if (state === 'failed') witness.saidFailed.add(refundId);
      if (state === 'succeeded' && !witness.isGivenBack(refundId)) {
        witness.breaks(`refund ${refundId} is answered as succeeded, and was not given back`);
      }
    } catch (error) {
      trace.add(() => `${host.name} ${what}: ${String(error)}`);
      if (error instanceof PaymentError) await onError(error);
      else witness.breaks(`${what} threw ${String(error)}`);
    }
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A payment that was purged has no totals. */
function unlessDeleted(error: unknown): null {
  if (error instanceof PaymentNotFoundError) return null;
  throw error as Error;
}

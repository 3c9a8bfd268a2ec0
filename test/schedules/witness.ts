import type {
  Payment,
  PaymentDuplicateError,
  PaymentEvent,
  PaymentService,
  Refund,
  RefundEvent,
} from 'nestjs-card-payment';
import { isOpenRefund } from '../../lib/payment/refund.js';
import { isRefund, type PaymentRecord } from '../../lib/payment/payment.js';
import { isClaimed, factsOf } from '../../lib/payment/states.js';
import { holdsOrder } from '../../lib/payment/transitions.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { sale } from '../rigs/sale.js';
import { interceptCalls } from '../rigs/store-calls.js';
import type { Gateway } from './gateway.js';

export type Answer = Payment | Refund;

/** What the witness knows of a host. */
interface WatchedHost {
  readonly name: string;
  readonly isDead: boolean;
  readonly payments: PaymentService;
  /** What its callers were told. */
  readonly told: Answer[];
  readonly unanswered: number;
}

/** What the witness knows of the shop. */
interface WatchedShop {
  readonly gateway: Gateway;
  readonly hosts: readonly WatchedHost[];
  readonly alive: readonly WatchedHost[];
  readonly another: WatchedHost;
  readonly hasDropped: boolean;
  readonly script: { readonly isPaid?: boolean };
}

/** Sees what the store has taken, what callers were told and what handlers got, and checks it against the ledger. */
export class Witness {
  /** Promises that were broken. */
  readonly broken: string[] = [];
  /** The last record of each payment and refund that the store has taken, purged ones included. */
  readonly records = new Map<string, PaymentRecord>();
  /** The events that the store has taken: `id:version state`. */
  private readonly published: string[] = [];
  /** The same of those that handlers got, in their order. */
  private readonly handled: string[] = [];
  /** The orders that a handler was told failed or expired. */
  private readonly givenBack = new Set<string | null>();

  constructor(private readonly shop: WatchedShop) {}

  check(holds: boolean, otherwise: string): void {
    if (!holds && !this.broken.includes(otherwise)) this.broken.push(otherwise);
  }

  /** The store, whose writes the witness sees as they are done. */
  watch(store: PaymentStore): PaymentStore {
    return interceptCalls(store, async ({ method, args, proceed }) => {
      const result = await proceed();
      const isWritten = method === 'insert' ? result === null : method === 'replace' && result === 'replaced';
      if (isWritten) this.seeRecord(args[0] as PaymentRecord);
      return result;
    });
  }

  seeHandled(event: PaymentEvent | RefundEvent): void {
    const { version, state } = 'refund' in event ? event.refund : event.payment;
    const id = 'refund' in event ? event.refund.refundId : event.payment.conversationId;
    this.handled.push(`${id}:${version} ${state}`);
    if ('refund' in event || !isFreeing(state)) return;
    const { reference } = event.payment;
    this.givenBack.add(reference);
    this.check(!this.isHeld(reference), `a handler was told ${state} of an order that is held`);
  }

  private isHeld(reference: string | null): boolean {
    return [...this.records.values()].some((record) => record.reference === reference && holdsOrder(record));
  }

  /** Checks an answer as it is given. */
  seeAnswer(host: WatchedHost, answer: Answer): void {
    host.told.push(answer);
    const { state, settled, stored } = answer;
    const record = this.recordOf(answer);
    this.checkState(answer, `${host.name} told its caller ${state}`);
    const isTrue = !settled || !stored || state === record.state;
    this.check(isTrue, `${host.name} told its caller that ${state} is stored, and ${record.state} was`);
  }

  /** A minute later nobody waits any more, and no living host has left a request under way. */
  checkAnswered(): void {
    const isUnderWay = [...this.records.values()].some(({ state }) => isClaimed(state));
    const hasDied = this.shop.hosts.some(({ isDead }) => isDead);
    this.check(hasDied || !isUnderWay, 'a request counts as under way a minute later, although no host died');
    for (const { name, unanswered } of this.shop.alive) {
      this.check(unanswered === 0, `${name} has not answered its caller a minute later`);
    }
  }

  /** An outcome that a living host told its caller must be the stored one, unless the money moved later. */
  checkAnswers(when: string): void {
    for (const { name, told } of this.shop.alive) {
      for (const answer of told.filter(({ settled }) => settled)) {
        const { state } = this.recordOf(answer);
        const isPaidLate = this.shop.gateway.isPaidLate(answer.conversationId);
        const isLate = isPaidLate && (state === 'review' || !answer.stored);
        const isTrue = answer.state === state || isLate;
        this.check(isTrue, `${name} told its caller ${answer.state}, and it is ${state} ${when}`);
      }
    }
  }

  async checkEnd(): Promise<void> {
    this.checkAnswers('in the end');
    this.checkAnswered();
    for (const record of this.records.values()) this.checkRecord(record);
    this.checkEvents();
    await this.checkTotals();
    await this.checkOrders();
  }

  private seeRecord(record: PaymentRecord): void {
    const { conversationId, parentId, state, reference } = record;
    const before = this.records.get(conversationId);
    const name = nameOf(record);
    this.check(before?.state !== 'succeeded' || state === 'succeeded', `${name} was succeeded, and is ${state}`);
    this.records.set(conversationId, record);
    this.checkState(record, `${name} was ${state}`);
    if (before?.state !== state && factsOf(state).published) {
      this.published.push(`${conversationId}:${record.version} ${state}`);
    }
    const openPages = [...this.records.values()].filter((one) => one.reference === reference).filter(isOpenPage);
    this.check(openPages.length <= 1, 'an order has two open pages');
    const ofSame = [...this.records.values()].filter((one) => isRefund(one) && one.parentId === parentId);
    this.check(ofSame.filter(isOpenRefund).length <= 1, 'a payment has two open refunds');
  }

  private recordOf(answer: Answer): PaymentRecord {
    return this.records.get('refundId' in answer ? answer.refundId : answer.conversationId)!;
  }

  /** An outcome must agree with the gateway's ledger; in the end that of a page that was paid late, too. */
  private checkState(of: Answer | PaymentRecord, what: string, isEnd = false): void {
    const { gateway } = this.shop;
    const isOfRefund = 'refundId' in of || ('parentId' in of && isRefund(of));
    const id = 'refundId' in of ? of.refundId : of.conversationId;
    const hasMoved = isOfRefund ? gateway.isGivenBack(id) : gateway.isCharged(id);
    const { settled, money } = factsOf(of.state);
    const moved = isOfRefund ? 'given back' : 'charged';
    const isTrue = !settled || (money === 'yes') === hasMoved || (!isEnd && gateway.isPaidLate(id));
    this.check(isTrue, `${what}, and the money was ${hasMoved ? '' : 'not '}${moved}`);
  }

  private checkRecord(record: PaymentRecord): void {
    const { gateway } = this.shop;
    const { conversationId, state, reason } = record;
    const name = nameOf(record);
    const { arrivals = 0 } = gateway.sales.get(conversationId) ?? gateway.refunds.get(conversationId) ?? {};
    this.checkState(record, `${name} is ${state} in the end`, true);
    const isLate = state === 'review' && gateway.isPaidLate(conversationId);
    // That the gateway does not know a refund is no proof that it will not arrive: a person has to look.
    const isLost = isRefund(record) && arrivals === 0 && state === 'unknown';
    const isClear = factsOf(state).settled || isLate || isLost;
    this.check(isClear, `${name} is ${state} (${reason}) in the end, although the gateway would tell`);
    this.check(arrivals <= 1, `${name} was sent ${arrivals} times`);
  }

  private checkEvents(): void {
    for (const event of this.published) {
      const isToldIf = isFreeing(event.split(' ')[1]!);
      this.check(isToldIf || this.handled.includes(event), `no handler got ${shown(event)}`);
    }
    for (const event of this.handled) this.check(this.published.includes(event), `a handler got ${shown(event)}`);
    const firsts = [...new Set(this.handled)];
    const inOrder = firsts.every((event, index) => {
      const [id] = event.split(':');
      const later = firsts.slice(index + 1).filter((other) => other.startsWith(`${id}:`));
      return later.every((other) => versionOf(other) > versionOf(event));
    });
    this.check(inOrder, 'a handler got the events of a payment out of order');
  }

  /** What the shop says was given back is what the gateway gave back, and no more than was taken. */
  private async checkTotals(): Promise<void> {
    const { gateway, another } = this.shop;
    for (const { conversationId, amount } of gateway.sales.values()) {
      const given = gateway.givenOf(conversationId);
      this.check(given <= amount, `${given} was given back of ${amount}`);
      if (given === 0) continue;
      const totals = await another.payments.refundTotals(conversationId).catch(() => null);
      const isKnown = totals === null || Number(totals.refunded) === given;
      this.check(isKnown, `${given} was given back, and ${totals?.refunded} is known`);
    }
  }

  /** An order was paid once; one that was charged stays taken, and any other can be paid. */
  private async checkOrders(): Promise<void> {
    const { gateway, another, hosts, hasDropped, script } = this.shop;
    const payments = [...this.records.values()].filter((record) => !isRefund(record));
    for (const reference of new Set(payments.map((record) => record.reference))) {
      const ofOrder = payments.filter((record) => record.reference === reference);
      const charged = ofOrder.filter(({ conversationId }) => gateway.isCharged(conversationId));
      const inTime = charged.filter(({ kind, state }) => kind !== 'hosted' || state !== 'review');
      this.check(inTime.length <= 1, `the order was charged ${inTime.length} times`);
      const mayBeUnpaid = hosts.some(({ isDead }) => isDead) || hasDropped || !script.isPaid;
      this.check(charged.length > 0 || mayBeUnpaid, 'no host died, and the order could not be paid');
      if (reference === null) continue;
      // Whoever gives a page up has the answer, and is told by no event.
      const isTold = ofOrder.some(({ state, reason }) => isFreeing(state) && reason !== 'abandoned');
      const isFree = isTold && !ofOrder.some(({ reason }) => reason === 'abandoned') && !this.isHeld(reference);
      this.check(!isFree || this.givenBack.has(reference), 'the order is free, and no handler was told so');
      const isTaken = charged.length > 0;
      const isPaid = await another.payments.doPayment({ ...sale(), reference }).then(
        ({ state }) => state === 'succeeded',
        (error: unknown) => (error as Partial<PaymentDuplicateError>).key !== 'reference',
      );
      this.check(
        isPaid !== isTaken,
        `the order is ${isTaken ? 'paid' : 'free'}, and can${isPaid ? '' : 'not'} be paid`,
      );
    }
  }
}

function nameOf(record: PaymentRecord): string {
  return isRefund(record) ? `the ${record.kind}` : 'the payment';
}

/** Whether a shop that hears of it gives the order back. */
function isFreeing(state: string): boolean {
  return state === 'failed' || state === 'expired';
}

function isOpenPage({ kind, state }: PaymentRecord): boolean {
  return kind === 'hosted' && state === 'pending';
}

function versionOf(event: string): number {
  return parseInt(event.split(':')[1] ?? '', 10);
}

/** An event without the id of its payment, which tells a reader nothing. */
function shown(event: string): string {
  return `the event of version ${event.split(':')[1]}`;
}

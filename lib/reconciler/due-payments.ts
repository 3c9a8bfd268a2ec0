import type { Inquiries } from '../operations/inquiry.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { isKnown, type PaymentRecord } from '../payment/payment.js';
import { factsOf } from '../payment/states.js';
import type { PaymentClock } from '../runtime/clock.js';
import { nextInquiry, type SettlementRules, variedBy } from '../settlement/outcomes.js';
import { nextPageInquiry } from '../settlement/page-outcomes.js';
import { isOwn } from '../settlement/records.js';
import type { PaymentWriter } from '../settlement/writer.js';
import type { PaymentStore } from '../store/payment-store.js';
import { callStore } from '../store/store-call.js';

/** Even if each answer takes 20 seconds, a batch is asked about before its leases run out. */
export const PAYMENT_LEASE_MS = 600_000;
const LEASE_BATCH = 50;
/** How many are worked on in one go. */
const MAX_PAYMENTS_PER_PASS = 200;
const AT_ONCE = 4;
/** A payment that could not be asked about is due again in about a minute, or at its own time if that is later. */
const MIN_LATER_INQUIRIES = 2;
/** After how long a payment in a state of a newer release is handed back to that release. */
const NEWER_RELEASE_MS = 60_000;
/** For how long a record of another gateway is handed back. */
const MIN_LEFT_MS = 60_000;
const MAX_LEFT_MS = 3_600_000;
/** How long one that has ended unpaid may still be asked about by its own gateway's instances. */
const MAX_LATE_MS = 7 * 86_400_000;

/** What the work on due payments is done with. */
export interface DueParts {
  readonly store: PaymentStore;
  readonly writer: PaymentWriter;
  readonly inquiries: Inquiries;
  readonly rules: SettlementRules;
  readonly clock: PaymentClock;
  readonly settings: PaymentSettings;
  readonly stopping: AbortSignal;
}

/**
 * Works on payments and refunds that are due, each under a lease, so that no other instance works on it: expires them,
 * marks as `unknown` those whose process has died, and asks the gateway about unknown ones. One batch at a time waits
 * for its inquiries, while other work continues; what comes meanwhile is handed back, and so is the rest of a batch
 * once the gateway does not answer, to be due again at spread-out times.
 */
export class DuePayments {
  readonly counts = { expired: 0, interrupted: 0, inquired: 0, settled: 0 };
  /** The rest of a batch. The record of a page holds its address, so `inspect` must not show it. */
  readonly #waiting: PaymentRecord[] = [];
  /** They ask in turn. One whose inquiry takes long holds up no other batch. */
  private readonly workers = new Set<Promise<void>>();
  /** The conversationIds that are being asked about: the lease of one may run out meanwhile. */
  private readonly asked = new Set<string>();
  /** Whether the gateway did not answer. Until all inquiries have ended, no further ones begin. */
  private isSilent = false;

  /** @param onFailure told that the store failed an inquiry */
  constructor(
    private readonly parts: DueParts,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /**
   * Finishes what is quick, and leaves inquiries running.
   *
   * @param isPatient whether to wait for the inquiries about a batch before the next one is leased
   * @throws PaymentStoreError
   */
  async process(isPatient: boolean): Promise<void> {
    const { store, settings, stopping } = this.parts;
    if (this.workers.size === 0) this.isSilent = false;
    for (let left = MAX_PAYMENTS_PER_PASS; left > 0 && !stopping.aborted;) {
      const lease = { account: settings.account, leaseMs: PAYMENT_LEASE_MS, limit: Math.min(LEASE_BATCH, left) };
      const batch = await callStore('reading', () => store.leaseDue(lease));
      const unknown: PaymentRecord[] = [];
      await sideBySide(batch, AT_ONCE, (record) => this.processPayment(record, unknown));
      if (this.#waiting.length === 0) this.#waiting.push(...unknown);
      else await sideBySide(unknown, AT_ONCE, (record) => this.handBack(record, this.later()));
      this.askAboutWaiting();
      if (isPatient) await this.ended();
      // Any number of another gateway's may be due first: they do not count, so that this one's come in the same pass.
      const own = batch.filter((record) => isOwn(record, settings)).length;
      left = batch.length === 0 ? 0 : left - own;
    }
  }

  /** Resolves when no inquiry runs. */
  async ended(): Promise<void> {
    await Promise.all(this.workers);
  }

  /** Returns a leased payment, to be due at `dueAt`. */
  private handBack({ account, conversationId, version }: PaymentRecord, dueAt: Date): Promise<void> {
    return callStore('handing work back', () => this.parts.store.handBack(account, conversationId, version, dueAt));
  }

  private handBackFor(record: PaymentRecord, ms: number): Promise<void> {
    return this.handBack(record, new Date(this.parts.clock.now().getTime() + ms));
  }

  /** @param unknown gets the record if the gateway is to be asked about it */
  private async processPayment(record: PaymentRecord, unknown: PaymentRecord[]): Promise<void> {
    const { clock, rules, settings, stopping } = this.parts;
    if (stopping.aborted) return this.handBack(record, clock.now());
    if (!isKnown(record)) return this.handBackFor(record, NEWER_RELEASE_MS);
    switch (factsOf(record.state).whenDue) {
      case 'expire':
        return this.expire(record);
      case 'interrupt':
        return this.interrupt(record);
      case 'inquire':
        if (!isOwn(record, settings)) return this.leaveToItsGateway(record);
        if (this.asked.has(record.conversationId)) return;
        // A page that nobody can ask about ends like one whose gateway is silent.
        if (rules.canInquire || record.state === 'pending') return void unknown.push(record);
        // Another instance may be able to ask.
        return this.leaveToOthers(record, PAYMENT_LEASE_MS);
      case 'nothing':
        return;
    }
  }

  private async expire(record: PaymentRecord): Promise<void> {
    const { clock, writer } = this.parts;
    // Of a payment that is only being started, the claim has ended.
    if (record.state !== 'initiating' && record.expiresAt && record.expiresAt > clock.now()) {
      return this.handBack(record, record.expiresAt);
    }
    const ended = await writer.move(record, 'expired');
    if (ended.outcome === 'replaced') this.counts.expired += 1;
  }

  /**
   * The claim ran out, so the process that held it is gone. That gives the right to ask the gateway, never to send
   * again.
   */
  private async interrupt(record: PaymentRecord): Promise<void> {
    const { clock, writer } = this.parts;
    const moved = await writer.move(record, 'unknown', { reason: 'interrupted', dueAt: clock.now() });
    if (moved.outcome === 'replaced') this.counts.interrupted += 1;
  }

  /**
   * Leaves a record of another gateway to instances with the settings of that one. An open page ends like one whose
   * gateway is silent, so that a person can settle it.
   */
  private async leaveToItsGateway(record: PaymentRecord): Promise<void> {
    if (record.state === 'pending' && (await this.parts.inquiries.ask(record))) return;
    return this.leaveToOthers(record);
  }

  /**
   * Leaves a record that cannot be asked about here to other instances, for as long as it has been unchanged already.
   * One that ended long ago is due no more, so that it can be purged.
   */
  private async leaveToOthers(record: PaymentRecord, maxMs = MAX_LEFT_MS): Promise<void> {
    const { clock, rules, writer } = this.parts;
    const unchangedMs = clock.now().getTime() - record.updatedAt.getTime();
    if (factsOf(record.state).settled && unchangedMs >= MAX_LATE_MS) {
      const { state, reason, by } = record;
      return void (await writer.move(record, state, { reason, by }));
    }
    const leftMs = Math.min(Math.max(unchangedMs, MIN_LEFT_MS), maxMs);
    await this.handBackFor(record, variedBy(rules.random, leftMs));
  }

  private askAboutWaiting(): void {
    while (this.workers.size < AT_ONCE && this.#waiting.length > 0) {
      const worker = this.askInTurn().finally(() => this.workers.delete(worker));
      this.workers.add(worker);
    }
  }

  private async askInTurn(): Promise<void> {
    for (let record = this.#waiting.shift(); record; record = this.#waiting.shift()) {
      this.asked.add(record.conversationId);
      await this.ask(record).catch(this.onFailure);
      this.asked.delete(record.conversationId);
    }
  }

  private async ask(record: PaymentRecord): Promise<void> {
    const { clock, inquiries, rules, stopping } = this.parts;
    if (stopping.aborted) return this.handBack(record, clock.now());
    // Its lease has ended, so another instance may be asking.
    if (record.dueAt === null || clock.now() >= record.dueAt) return;
    const settled = this.isSilent ? null : await inquiries.ask(record);
    this.isSilent ||= settled === null;
    if (!settled) return this.handBack(record, this.later(record.inquiries));
    // An answer about a page that says nothing new is not written.
    if (settled.record.version === record.version) {
      await this.handBack(record, nextPageInquiry(record, clock.now(), rules.random));
    }
    this.counts.inquired += 1;
    if (settled.event) this.counts.settled += 1;
  }

  private later(inquiries = 0): Date {
    const { clock, rules } = this.parts;
    return nextInquiry(clock.now(), Math.max(inquiries, MIN_LATER_INQUIRIES), rules.random);
  }
}

/**
 * Works on all items in their order, several at a time. Throws only when all of them have ended: a shutdown must not
 * close the store while some still run.
 */
export async function sideBySide<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = [...items];
  const workOn = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, workOn));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason as Error;
}

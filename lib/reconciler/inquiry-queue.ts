import type { PaymentClock } from '../runtime/clock.js';
import type { PaymentRecord } from '../payment/payment.js';
import type { Randomness } from '../runtime/randomness.js';
import type { DuePayments } from './due-payments.js';
import type { Inquiries } from '../operations/inquiry.js';
import { nextPageInquiry } from '../settlement/page-outcomes.js';
import { nextInquiry } from '../settlement/outcomes.js';

const INQUIRIES_AT_ONCE = 4;
/** A payment that could not be asked about is due again in about a minute, or at its own time if that is later. */
const MIN_LATER_INQUIRIES = 2;

/** A payment to ask the gateway about. */
export interface QueuedInquiry {
  readonly record: PaymentRecord;
  /** When its lease ends: until then no other instance works on it. */
  readonly until: Date;
  /** Whether it is leased: then it is handed back if it is not asked about. */
  readonly isLeased: boolean;
  /** Called when the gateway answered. */
  readonly onAnswer: (isSettled: boolean) => void;
}

/** The queue's dependencies. */
export interface InquiryParts {
  readonly due: DuePayments;
  readonly inquiries: Inquiries;
  readonly clock: PaymentClock;
  readonly random: Randomness;
  readonly stopping: AbortSignal;
}

/** Told after each inquiry whether the store accepted the result. */
export interface InquiryWatch {
  /** @param failure a PaymentStoreError */
  failed(failure: unknown): void;
  succeeded(): void;
}

/**
 * Asks the gateway about payments, a few at a time, while the caller continues with other work. If the gateway stops
 * answering, the waiting payments are handed back, to be due again at spread-out times.
 */
export class InquiryQueue {
  /** By conversationId. The record of a page holds its address, so `inspect` must not show them. */
  readonly #waiting = new Map<string, QueuedInquiry>();
  private readonly asked = new Set<string>();
  private readonly running = new Set<Promise<void>>();
  private workers = 0;
  private isSilent = false;

  /** @param capacity how many payments may wait */
  constructor(
    private readonly parts: InquiryParts,
    private readonly capacity: number,
    private readonly watch: InquiryWatch,
  ) {}

  /** Adds a payment; hands it back if the queue is full. */
  add(queued: QueuedInquiry): void {
    const { conversationId } = queued.record;
    // If its lease ran out during the inquiry, it is leased again: do not start a second inquiry.
    if (this.asked.has(conversationId)) return;
    const isWaiting = this.#waiting.has(conversationId);
    if (!isWaiting && this.#waiting.size >= this.capacity)
      return this.track(this.watched(this.handBack(queued, this.later(0))));
    // A payment that was leased again while it waited keeps its place, with the new lease.
    this.#waiting.set(conversationId, queued);
    if (this.workers < INQUIRIES_AT_ONCE) this.track(this.runWorker());
  }

  /** Resolves when no payment waits and no inquiry runs. */
  async ended(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private track(work: Promise<void>): void {
    const tracked = work.finally(() => this.running.delete(tracked));
    this.running.add(tracked);
  }

  private watched(work: Promise<void>): Promise<void> {
    const { watch } = this;
    return work.then(
      () => watch.succeeded(),
      (failure: unknown) => watch.failed(failure),
    );
  }

  private async runWorker(): Promise<void> {
    this.workers += 1;
    for (const [conversationId, queued] of this.#waiting) {
      this.#waiting.delete(conversationId);
      this.asked.add(conversationId);
      await this.watched(this.ask(queued));
      this.asked.delete(conversationId);
    }
    this.workers -= 1;
    if (this.workers === 0) this.isSilent = false;
  }

  private async ask(queued: QueuedInquiry): Promise<void> {
    const { clock, stopping, inquiries } = this.parts;
    const { record, until, onAnswer } = queued;
    if (stopping.aborted) return this.handBack(queued, clock.now());
    // The lease has ended, so another instance may be asking.
    if (clock.now() >= until) return;
    if (this.isSilent) return this.handBack(queued, this.later(record.inquiries));
    const settled = await inquiries.ask(record);
    if (settled) {
      // An answer about a page that says nothing new is not written.
      if (settled.record.version === record.version) {
        await this.handBack(queued, nextPageInquiry(record, clock.now(), this.parts.random));
      }
      return onAnswer(settled.event !== undefined);
    }
    this.isSilent = true;
    await this.parts.due.handBack(record, this.later(record.inquiries));
  }

  private later(inquiries: number): Date {
    const { clock, random } = this.parts;
    return nextInquiry(clock.now(), Math.max(inquiries, MIN_LATER_INQUIRIES), random);
  }

  /** A payment that is not leased already has its due time. */
  private async handBack({ record, isLeased }: QueuedInquiry, dueAt: Date): Promise<void> {
    if (isLeased) await this.parts.due.handBack(record, dueAt);
  }
}

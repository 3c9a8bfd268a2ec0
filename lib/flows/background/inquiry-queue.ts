import type { PaymentClock } from '../../payment/clock.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { Randomness } from '../../payment/randomness.js';
import type { DuePayments } from './due-payments.js';
import type { InquiryFlow } from '../inquiry-flow.js';
import { nextInquiry } from '../settling/settlement.js';

const INQUIRIES_AT_ONCE = 4;
/** What could not be asked about now is due again in a minute, a fifth more or less, or when its own turn comes. */
const MIN_LATER_INQUIRIES = 2;

/** A payment that the gateway is to be asked about. */
export interface OpenQuestion {
  readonly record: PaymentRecord;
  /** Until when nobody else works on it. */
  readonly until: Date;
  /** Whether it is leased, so that it is handed back when it is not asked about. */
  readonly isLeased: boolean;
  /** Called when the gateway answered. */
  readonly onAnswer: (isSettled: boolean) => void;
}

/** What the queue works with. */
export interface InquiryParts {
  readonly due: DuePayments;
  readonly inquiries: InquiryFlow;
  readonly clock: PaymentClock;
  readonly random: Randomness;
  readonly stopping: AbortSignal;
}

/** Is told, question by question, whether the store took what came of it. */
export interface InquiryWatch {
  /** @param failure a PaymentStoreError */
  failed(failure: unknown): void;
  succeeded(): void;
}

/**
 * Asks the gateway about payments, a few at a time, while whoever leased them goes on with other work. Once the gateway
 * does not answer, nothing that waits is asked about before the next passes have spread out.
 */
export class InquiryQueue {
  /** By conversationId, as are those that are being asked about. */
  private readonly waiting = new Map<string, OpenQuestion>();
  private readonly asked = new Set<string>();
  private readonly running = new Set<Promise<void>>();
  private workers = 0;
  private isSilent = false;

  /** @param capacity how many may wait */
  constructor(
    private readonly parts: InquiryParts,
    private readonly capacity: number,
    private readonly watch: InquiryWatch,
  ) {}

  /** Takes a payment in. Where there is no room, it is handed back. */
  add(question: OpenQuestion): void {
    const { conversationId } = question.record;
    // Its lease may run out while the gateway is being asked: no second inquiry beside the first.
    if (this.asked.has(conversationId)) return;
    const isWaiting = this.waiting.has(conversationId);
    if (!isWaiting && this.waiting.size >= this.capacity)
      return this.track(this.watched(this.handBack(question, this.later(0))));
    // One that waited until it was leased again keeps its place, with the new lease.
    this.waiting.set(conversationId, question);
    if (this.workers < INQUIRIES_AT_ONCE) this.track(this.work());
  }

  /** Resolves when nothing waits and no inquiry runs. */
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

  private async work(): Promise<void> {
    this.workers += 1;
    for (const [conversationId, question] of this.waiting) {
      this.waiting.delete(conversationId);
      this.asked.add(conversationId);
      await this.watched(this.workOn(question));
      this.asked.delete(conversationId);
    }
    this.workers -= 1;
    if (this.workers === 0) this.isSilent = false;
  }

  private async workOn(question: OpenQuestion): Promise<void> {
    const { clock, stopping, inquiries } = this.parts;
    const { record, until, onAnswer } = question;
    if (stopping.aborted) return this.handBack(question, clock.now());
    // By now another instance may be asking.
    if (clock.now() >= until) return;
    if (this.isSilent) return this.handBack(question, this.later(record.inquiries));
    const payment = await inquiries.ask(record);
    if (payment) return onAnswer(payment.state !== 'unknown');
    this.isSilent = true;
    await this.parts.due.handBack(record, this.later(record.inquiries));
  }

  private later(inquiries: number): Date {
    const { clock, random } = this.parts;
    return nextInquiry(clock.now(), Math.max(inquiries, MIN_LATER_INQUIRIES), random);
  }

  /** What is not leased has its time set already. */
  private async handBack({ record, isLeased }: OpenQuestion, dueAt: Date): Promise<void> {
    if (isLeased) await this.parts.due.handBack(record, dueAt);
  }
}

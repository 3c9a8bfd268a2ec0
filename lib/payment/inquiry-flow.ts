import { Injectable } from '@nestjs/common';
import { PaymentNotFoundError } from '../errors/payment-not-found.error.js';
import { PaymentStateError } from '../errors/payment-state.error.js';
import { PaymentUnsupportedError } from '../errors/payment-unsupported.error.js';
import { PaymentValidationError } from '../errors/payment-validation.error.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { maskCards } from './card-mask.js';
import { type Payment, type PaymentRecord, toPayment } from './payment.js';
import { PaymentBook } from './payment-book.js';
import { applyInquiry, settlementRules } from './settlement.js';
import { tidy } from './told-texts.js';

const MOST_NOTE = 1_000;

/** Settles what is not known: by asking the gateway, or by an operator's word. */
@Injectable()
export class InquiryFlow {
  constructor(
    private readonly book: PaymentBook,
    private readonly gateway: GatewayClient,
    private readonly settings: PaymentSettings,
  ) {}

  async inquire(conversationId: string): Promise<Payment> {
    if (!this.gateway.canInquire) throw new PaymentUnsupportedError('CheckPayment', this.settings.dialect.name);
    const record = await this.book.find(conversationId);
    if (!record) throw new PaymentNotFoundError();
    if (record.state === 'initiating' || record.state === 'awaiting') {
      throw new PaymentStateError(toPayment(record), 'be inquired: no money can have moved');
    }
    if (record.state === 'succeeded') return toPayment(record);
    return (await this.ask(record)) ?? toPayment(record);
  }

  /** @returns null when the gateway gave no answer at all */
  async ask(record: PaymentRecord): Promise<Payment | null> {
    const word = await this.gateway.checkPayment(toPayment(record));
    if (!word) return null;
    const rules = settlementRules(this.settings);
    return this.book.settle(record, (current, now) => applyInquiry(current, word, rules, now));
  }

  async resolve(conversationId: string, state: 'succeeded' | 'failed', note: string): Promise<Payment> {
    checkResolution(state, note);
    const record = await this.book.find(conversationId);
    if (!record) throw new PaymentNotFoundError();
    if (record.state === 'unknown' || record.state === 'review') {
      const change = { reason: 'operator', note: maskCards(tidy(note, MOST_NOTE)) } as const;
      const resolved = await this.book.move(record, state, change);
      if (resolved.outcome === 'replaced') return toPayment(resolved.record);
    }
    const now = (await this.book.find(conversationId)) ?? record;
    throw new PaymentStateError(toPayment(now), `be resolved as ${state}`);
  }
}

/** Callers in plain JavaScript get no help from the types. */
function checkResolution(state: unknown, note: unknown): void {
  const issues = [];
  if (state !== 'succeeded' && state !== 'failed') {
    issues.push({ path: 'state', rule: 'isIn', message: 'must be succeeded or failed' });
  }
  if (typeof note !== 'string' || note.trim() === '') {
    issues.push({ path: 'note', rule: 'isNotEmpty', message: 'must say who found out, and how' });
  }
  if (issues.length > 0) throw new PaymentValidationError(issues);
}

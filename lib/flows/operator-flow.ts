import { Injectable } from '@nestjs/common';
import { PaymentNotFoundError } from '../errors/payment-not-found.error.js';
import { PaymentStateError } from '../errors/payment-state.error.js';
import { PaymentValidationError, type ValidationIssue } from '../errors/payment-validation.error.js';
import { type Payment, toPayment } from '../payment/payment.js';
import { PaymentReader } from './payment-reader.js';
import { PaymentWriter } from './payment-writer.js';
import { advance } from '../payment/states.js';
import { plainText } from '../payment/plain-text.js';

const MAX_NOTE_LENGTH = 1_000;

/** What an operator settles by hand. */
@Injectable()
export class OperatorFlow {
  constructor(
    private readonly reader: PaymentReader,
    private readonly writer: PaymentWriter,
  ) {}

  async resolve(conversationId: string, state: 'succeeded' | 'failed', note: string): Promise<Payment> {
    checkResolution(state, note);
    const record = await this.reader.find(conversationId);
    if (!record) throw new PaymentNotFoundError();
    const change = {
      reason: 'operator',
      note: plainText(note, MAX_NOTE_LENGTH, record),
    } as const;
    const resolved = await this.writer.decide(record, (current, now) =>
      current.state === 'unknown' || current.state === 'review' ? advance(current, state, change, now) : null,
    );
    if (resolved) return resolved;
    throw new PaymentStateError(toPayment(await this.reader.latest(record)), `be resolved as ${state}`);
  }
}

/** Callers in plain JavaScript get no help from the types. */
function checkResolution(state: unknown, note: unknown): void {
  const issues: ValidationIssue[] = [];
  if (state !== 'succeeded' && state !== 'failed') {
    issues.push({ path: 'state', rule: 'isIn', message: 'must be succeeded or failed' });
  }
  if (typeof note !== 'string' || note.trim() === '') {
    issues.push({ path: 'note', rule: 'isNotEmpty', message: 'must say who found out, and how' });
  }
  if (issues.length > 0) throw new PaymentValidationError(issues);
}

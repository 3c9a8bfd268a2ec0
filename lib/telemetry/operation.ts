import { errorType, paymentAttributes, type SeenPayment } from './attributes.js';
import { recordDuration } from './metrics.js';
import { openTelemetry } from './open-telemetry.js';
import { inSpan } from './spans.js';

/** Something that a merchant, or the bank's callback, asks of the module. */
export interface OperationStart {
  readonly operation: 'doPayment' | 'init3d' | 'auth3d' | 'inquire';
  readonly account: string;
  /** The `traceparent` of what began the payment; null for none. */
  readonly link?: string | null;
}

/** Of an operation that gives the payment itself. */
export function itself<T>(payment: T): T {
  return payment;
}

/**
 * Runs an operation in a span of its own, and measures it.
 *
 * @param paymentOf the payment in what the operation gives
 */
export async function inOperation<T>(
  { operation, account, link = null }: OperationStart,
  paymentOf: (result: T) => SeenPayment,
  work: () => Promise<T>,
): Promise<T> {
  if (!openTelemetry()) return work();
  const began = performance.now();
  const by = { 'card_payment.operation': operation, 'card_payment.account': account };
  const measure = (outcome: Record<string, string>): void =>
    recordDuration('operations', performance.now() - began, { ...by, ...outcome });
  return inSpan(`card_payment.${operation}`, { kind: 'internal', attributes: by, link }, async (span) => {
    try {
      const result = await work();
      const payment = paymentOf(result);
      span.set(paymentAttributes(payment));
      measure({ 'card_payment.state': payment.state });
      return result;
    } catch (error) {
      const { payment } = error as { payment?: SeenPayment | null };
      if (payment) span.set(paymentAttributes(payment));
      span.fail(errorType(error));
      measure({ 'error.type': errorType(error) });
      throw error;
    }
  });
}

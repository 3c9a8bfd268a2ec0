import { recordDuration } from './metrics.js';
import type { Attributes, SeenPayment } from './attributes.js';
import { openTelemetry, quietly, SCOPE } from './open-telemetry.js';

/** A span that is open. */
export interface OpenSpan {
  set(attributes: Attributes): void;
  /** Marks it as failed. */
  fail(errorType: string): void;
}

/** What a span is started with. */
export interface SpanStart {
  readonly kind: 'internal' | 'client' | 'consumer';
  readonly attributes: Attributes;
  /** Starts a new trace, whatever span is active. */
  readonly isRoot?: boolean;
  /** The `traceparent` of an earlier trace to link to; null for none. */
  readonly link?: string | null;
}

const NO_SPAN: OpenSpan = { set: () => undefined, fail: () => undefined };
/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Runs the work in a span, which is the active span meanwhile. Errors pass through; their texts are not recorded. */
export async function inSpan<T>(
  name: string,
  { kind, attributes, isRoot = false, link = null }: SpanStart,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  const api = openTelemetry();
  if (!api) return work(NO_SPAN);
  const { context, trace, SpanKind, SpanStatusCode } = api;
  const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };
  const linked = link === null ? null : linkedContext(link);
  const options = { kind: kinds[kind], attributes, root: isRoot, links: linked ? [{ context: linked }] : [] };
  const span = quietly(() => trace.getTracer(SCOPE).startSpan(name, options));
  if (!span) return work(NO_SPAN);
  const open: OpenSpan = {
    set: (more) => void quietly(() => span.setAttributes(more)),
    fail: (errorType) =>
      void quietly(() => span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR })),
  };
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(open));
  } finally {
    quietly(() => span.end());
  }
}

/** The active span as a `traceparent`; null if there is none. */
export function currentTraceparent(): string | null {
  const active = quietly(() => openTelemetry()?.trace.getActiveSpan()?.spanContext());
  if (!active) return null;
  const text = `00-${active.traceId}-${active.spanId}-${active.traceFlags.toString(16).padStart(2, '0')}`;
  return linkedContext(text) ? text : null;
}

function linkedContext(traceparent: string) {
  const [, traceId = '', spanId = '', flags = '0'] = TRACEPARENT.exec(traceparent) ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** An operation that the merchant or the bank's callback starts. */
export interface OperationStart {
  readonly operation: string;
  readonly account: string;
  /** The `traceparent` of the call that began the payment; null for none. */
  readonly link?: string | null;
}

/** Runs an operation in a span of its own, and measures it. */
export async function inOperation<T>(
  { operation, account, link = null }: OperationStart,
  work: () => Promise<T>,
): Promise<T> {
  if (!openTelemetry()) return work();
  const began = performance.now();
  const attributes = { 'card_payment.operation': operation, 'card_payment.account': account };
  const measure = (outcome: Record<string, string>): void =>
    recordDuration('operations', performance.now() - began, { ...attributes, ...outcome });
  return inSpan(`card_payment.${operation}`, { kind: 'internal', attributes, link }, async (span) => {
    try {
      const result = await work();
      const payment = seenIn(result);
      if (payment) span.set(paymentAttributes(payment));
      measure(payment ? { 'card_payment.state': payment.state } : {});
      return result;
    } catch (error) {
      const { payment, refund } = error as { payment?: SeenPayment | null; refund?: SeenPayment | null };
      const seen = refund ?? payment;
      if (seen) span.set(paymentAttributes(seen));
      span.fail(errorType(error));
      measure({ 'error.type': errorType(error) });
      throw error;
    }
  });
}

/** The payment or refund that is an operation's result, or that it is about; null if it is about none. */
function seenIn(result: unknown): SeenPayment | null {
  const { payment = result } = Object(result) as { readonly payment?: unknown };
  return 'state' in Object(payment) ? (payment as SeenPayment) : null;
}

/** For spans only: with these attributes, metrics would have a series for each payment. */
function paymentAttributes(payment: SeenPayment): Attributes {
  const { conversationId, refundId, account, kind, state, reason, code } = payment;
  return {
    'card_payment.conversation_id': conversationId,
    ...(refundId !== undefined && { 'card_payment.refund_id': refundId }),
    'card_payment.account': account,
    'card_payment.kind': kind,
    'card_payment.state': state,
    ...(reason !== null && { 'card_payment.reason': reason }),
    ...(code !== null && { 'card_payment.code': code }),
  };
}

/** The stable code of an error of this module; `other` for any other error. */
function errorType(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^PAYMENT_[A-Z0-9_]{1,40}$/.test(code) ? code : 'other';
}

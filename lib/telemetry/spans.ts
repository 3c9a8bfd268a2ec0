import type { Attributes } from './attributes.js';
import { openTelemetry, quietly, SCOPE } from './open-telemetry.js';

/** A span that is open. */
export interface OpenSpan {
  set(attributes: Attributes): void;
  /** Marks it as failed. */
  fail(errorType: string): void;
}

/** How a span begins. */
export interface SpanStart {
  readonly kind: 'internal' | 'client' | 'consumer';
  readonly attributes: Attributes;
  /** Begins a trace of its own, whoever happens to be the caller. */
  readonly isRoot?: boolean;
  /** The `traceparent` of an earlier trace that it belongs to; null for none. */
  readonly link?: string | null;
}

const NO_SPAN: OpenSpan = { set: () => undefined, fail: () => undefined };
/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Runs the work in a span, which is the active one meanwhile. What the work throws is thrown; its text is not kept. */
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

/** The active span as a `traceparent`; null where there is none. */
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

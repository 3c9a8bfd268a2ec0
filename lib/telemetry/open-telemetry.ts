type OpenTelemetry = typeof import('@opentelemetry/api');

let api: OpenTelemetry | null = null;

/** Loads `@opentelemetry/api`, where the host has it. */
export async function connectTelemetry(): Promise<void> {
  try {
    api ??= await import('@opentelemetry/api');
  } catch {
    api = null;
  }
}

/**
 * The API while the host has set a provider of traces or metrics. Null otherwise, even where the API is there, as a
 * dependency of something else: spans and measurements that nobody sees would cost a tenth of a payment.
 */
export function openTelemetry(): OpenTelemetry | null {
  return api && (hasTracers(api) || hasMeters(api)) ? api : null;
}

function hasTracers({ trace, ProxyTracerProvider }: OpenTelemetry): boolean {
  const provider = trace.getTracerProvider();
  return (
    !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
  );
}

function hasMeters({ metrics, createNoopMeter }: OpenTelemetry): boolean {
  return metrics.getMeterProvider().getMeter(SCOPE) !== createNoopMeter();
}

/** Whose spans and metrics these are. */
export const SCOPE = 'nestjs-card-payment';

/** A host's exporter or processor that throws must not change what becomes of a payment. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

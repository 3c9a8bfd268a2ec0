type OpenTelemetry = typeof import('@opentelemetry/api');

let api: OpenTelemetry | null = null;

/** Loads `@opentelemetry/api`, where the host has it. Without it, nothing here does or costs anything. */
export async function connectTelemetry(): Promise<void> {
  try {
    api ??= await import('@opentelemetry/api');
  } catch {
    api = null;
  }
}

/** The API once it is loaded; null before, and where the host has none. */
export function openTelemetry(): OpenTelemetry | null {
  return api;
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

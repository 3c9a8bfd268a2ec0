type OpenTelemetry = typeof import('@opentelemetry/api');

/** Where `@opentelemetry/api`, of every 1.x, keeps the providers that are set; whoever uses OpenTelemetry sets one. */
const PROVIDERS = Symbol.for('opentelemetry.js.api.1');

let api: OpenTelemetry | null = null;
let loading: Promise<void> | null = null;

/** Loads `@opentelemetry/api` where the host uses it. Otherwise, nothing here does or costs anything. */
export async function connectTelemetry(): Promise<void> {
  if (!api && isUsed()) await (loading ??= load());
}

/** The API once it is loaded; null before, and where the host uses none. */
export function openTelemetry(): OpenTelemetry | null {
  // A host may set its providers after the start: then what comes next is seen.
  if (!api && !loading && isUsed()) void connectTelemetry();
  return api;
}

function isUsed(): boolean {
  return PROVIDERS in globalThis;
}

async function load(): Promise<void> {
  try {
    api = await import('@opentelemetry/api');
  } catch {
    // Somebody else's copy, out of this package's reach.
  }
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

type OpenTelemetry = typeof import('@opentelemetry/api');

/** Every 1.x of `@opentelemetry/api` keeps the providers here, and a host that uses OpenTelemetry sets one. */
const PROVIDERS = Symbol.for('opentelemetry.js.api.1');

let api: OpenTelemetry | null = null;
let loading: Promise<void> | null = null;

/** Loads `@opentelemetry/api` if the host uses it. If not, nothing is loaded, recorded or spent. */
export async function connectTelemetry(): Promise<void> {
  if (!api && isUsed()) await (loading ??= load());
}

/** The API once it is loaded; null before that, and if the host does not use it. */
export function openTelemetry(): OpenTelemetry | null {
  // A host may set its providers after the start: then everything from here on is recorded.
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
    // Another package has set the providers with a copy of the API that this package cannot import.
  }
}

/** The instrumentation scope of all spans and metrics. */
export const SCOPE = 'nestjs-card-payment';

/** Ignores what the work throws: a host's exporter or processor that fails must not affect a payment. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

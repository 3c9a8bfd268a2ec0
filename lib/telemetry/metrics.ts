import type { BatchObservableResult, Meter, MeterProvider, ObservableGauge } from '@opentelemetry/api';
import type { Attributes, SeenPayment } from './attributes.js';
import { openTelemetry, quietly, SCOPE } from './open-telemetry.js';

/** The gauges, which are read when metrics are collected: unit and description, by name. */
const GAUGES = {
  'card_payment.payments': ['{payment}', 'Unsettled payments in the store, by state.'],
  'card_payment.payments.oldest_age': ['s', 'How long the oldest of them has been in its state.'],
  'card_payment.refunds': ['{refund}', 'Unsettled refunds and voids in the store, by state.'],
  'card_payment.refunds.oldest_age': ['s', 'How long the oldest of them has been in its state.'],
  'card_payment.deliveries': ['{delivery}', 'Deliveries to awaited handlers: open, parked or orphaned, in the store.'],
  'card_payment.events.waiting': ['{event}', 'Events that have no handler yet, or are not fanned out yet.'],
  'card_payment.writes.owed': ['{write}', 'Outcomes and other writes of this process that the store has not accepted.'],
  'card_payment.handlers.long_running': ['{call}', 'Handler calls that have been running here for over a minute.'],
  'card_payment.clock.offset': ['s', "How far this host's clock is behind the store's."],
  'card_payment.store.up': ['', 'Whether the store answered: 1 or 0.'],
} as const;

export type GaugeName = keyof typeof GAUGES;

/** One value of one gauge. */
export interface Observation {
  readonly name: GaugeName;
  readonly value: number;
  readonly attributes: Attributes;
}

/** Reads the values of gauges; called once for each collection. */
export type Observer = () => Promise<readonly Observation[]>;

/** In seconds. A gateway answers within tenths of a second; the deadline is a minute. */
const BOUNDARIES = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120];

const observers = new Set<Observer>();
let made: { readonly provider: MeterProvider; readonly instruments: ReturnType<typeof instrumentsOf> } | null = null;

/** Counts a payment or refund that was begun, whatever its outcome. Card testers begin many payments. */
export function countAttempt({ account, kind }: Pick<SeenPayment, 'account' | 'kind'>): void {
  quietly(() => instruments()?.attempts.add(1, { 'card_payment.account': account, 'card_payment.kind': kind }));
}

/** Counts a payment or refund that has reached a state that is published as an event. */
export function countOutcome({ account, kind, state, reason }: SeenPayment): void {
  quietly(() =>
    instruments()?.outcomes.add(1, {
      'card_payment.account': account,
      'card_payment.kind': kind,
      'card_payment.state': state,
      ...(reason !== null && { 'card_payment.reason': reason }),
    }),
  );
}

/** A call that was refused because of `maxInFlight`, or, of `checkBin`, because of `maxBinChecks`. */
interface RefusedOperation {
  readonly account: string;
  readonly operation: string;
}

/** @param count 0 creates the series before anything was refused, so that collectors see its first increase */
export function countRefused({ account, operation }: RefusedOperation, count = 1): void {
  quietly(() =>
    instruments()?.refused.add(count, { 'card_payment.account': account, 'card_payment.operation': operation }),
  );
}

export function recordDuration(
  histogram: 'operations' | 'gatewayRequests' | 'handlers',
  ms: number,
  attributes: Attributes,
): void {
  quietly(() => instruments()?.[histogram].record(ms / 1000, { ...attributes }));
}

/** Calls the observer whenever metrics are collected. @returns a function that ends this */
export function observe(observer: Observer): () => void {
  observers.add(observer);
  quietly(() => instruments());
  return () => void observers.delete(observer);
}

/** The instruments of the current provider: a host may set one after this module was loaded. */
function instruments() {
  const provider = openTelemetry()?.metrics.getMeterProvider();
  if (!provider) return null;
  if (made?.provider !== provider) made = { provider, instruments: instrumentsOf(provider.getMeter(SCOPE)) };
  return made.instruments;
}

function instrumentsOf(meter: Meter) {
  const histogram = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: BOUNDARIES } });
  const gauges = new Map<GaugeName, ObservableGauge>();
  for (const [name, [unit, description]] of Object.entries(GAUGES) as [GaugeName, readonly [string, string]][]) {
    gauges.set(name, meter.createObservableGauge(name, { unit, description }));
  }
  meter.addBatchObservableCallback((result) => observeAll(result, gauges), [...gauges.values()]);
  return {
    attempts: meter.createCounter('card_payment.payment_attempts', {
      unit: '{payment}',
      description: 'Payments, refunds and voids (by kind) that were begun, whatever their outcome.',
    }),
    outcomes: meter.createCounter('card_payment.outcomes', {
      unit: '{payment}',
      description: 'Payments, refunds and voids (by kind) that became succeeded, failed, expired, unknown or review.',
    }),
    refused: meter.createCounter('card_payment.overload.refused', {
      unit: '{operation}',
      description: 'Calls of doPayment and init3d refused because of maxInFlight, of checkBin because of maxBinChecks.',
    }),
    operations: histogram(
      'card_payment.operation.duration',
      'How long doPayment, init3d, auth3d, inquire, refund, … took.',
    ),
    gatewayRequests: histogram('card_payment.gateway.request.duration', 'How long requests to the gateway took.'),
    handlers: histogram('card_payment.handler.duration', 'How long awaited handlers took.'),
  };
}

async function observeAll(
  result: BatchObservableResult,
  gauges: ReadonlyMap<GaugeName, ObservableGauge>,
): Promise<void> {
  const observed = await Promise.all(Array.from(observers, (observer) => observer().catch(() => [])));
  for (const { name, value, attributes } of observed.flat()) {
    const gauge = gauges.get(name);
    if (gauge) result.observe(gauge, value, attributes);
  }
}

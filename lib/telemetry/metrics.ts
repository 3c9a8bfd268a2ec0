import type { BatchObservableResult, Meter, MeterProvider, ObservableGauge } from '@opentelemetry/api';
import type { Attributes, SeenPayment } from './attributes.js';
import { openTelemetry, quietly, SCOPE } from './open-telemetry.js';

/** What is looked up when metrics are collected, by name: unit and meaning. */
const GAUGES = {
  'card_payment.payments': ['{payment}', 'Payments in a state that they do not end in, in the store.'],
  'card_payment.payments.oldest_age': ['s', 'How long the oldest of them has been in its state.'],
  'card_payment.deliveries': ['{delivery}', 'Deliveries to awaited handlers: open, parked or orphaned, in the store.'],
  'card_payment.events.waiting': ['{event}', 'Events that no handler has been announced for, or not fanned out yet.'],
  'card_payment.writes.owed': ['{write}', 'Outcomes and other writes that the store has not taken from this process.'],
  'card_payment.in_flight': ['{operation}', 'Operations that run in this process.'],
  'card_payment.in_flight.payments': ['{payment}', 'doPayment and init3d that run in this process.'],
  'card_payment.in_flight.limit': ['{payment}', 'How many of these maxInFlight lets run at once, where it is set.'],
  'card_payment.handlers.long_running': ['{call}', 'Calls of handlers here that have run for more than a minute.'],
  'card_payment.background.failures': [
    '{failure}',
    'How often in a row the store has failed the background work here.',
  ],
  'card_payment.deliveries.failures': ['{failure}', 'How often in a row the store has failed deliveries here.'],
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

/** Looks up what gauges show; asked once for each collection. */
export type Observer = () => Promise<readonly Observation[]>;

/** Seconds. A gateway answers in tenths of a second; a deadline is a minute. */
const BOUNDARIES = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120];

const observers = new Set<Observer>();
let made: { readonly provider: MeterProvider; readonly instruments: ReturnType<typeof instrumentsOf> } | null = null;

/** A payment that was begun, be it paid or not: what card testers make many of. */
export function countAttempt({ account, kind }: Pick<SeenPayment, 'account' | 'kind'>): void {
  quietly(() => instruments()?.attempts.add(1, { 'card_payment.account': account, 'card_payment.kind': kind }));
}

/** A payment that has reached a state which is published as an event. */
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

/** Of a new payment that `maxInFlight` refused. */
export interface RefusedOperation {
  readonly account: string;
  readonly operation: 'doPayment' | 'init3d';
}

/** @param count 0 shows the series before there is anything to count, so that its first increase is seen */
export function countRefused({ account, operation }: RefusedOperation, count = 1): void {
  quietly(() =>
    instruments()?.refused.add(count, { 'card_payment.account': account, 'card_payment.operation': operation }),
  );
}

/** A measured time, in milliseconds. */
export function recordDuration(what: 'operations' | 'gatewayRequests' | 'handlers', ms: number, by: Attributes): void {
  quietly(() => instruments()?.[what].record(ms / 1000, { ...by }));
}

/** Has the observer asked whenever metrics are collected. @returns what ends that */
export function observe(observer: Observer): () => void {
  observers.add(observer);
  quietly(() => instruments());
  return () => void observers.delete(observer);
}

/** Those of the provider that is set now: a host may set one after this module was loaded. */
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
      description: 'Payments that were begun, whatever came of them.',
    }),
    outcomes: meter.createCounter('card_payment.outcomes', {
      unit: '{payment}',
      description: 'Payments that came to succeeded, failed, expired, unknown or review.',
    }),
    refused: meter.createCounter('card_payment.overload.refused', {
      unit: '{operation}',
      description: 'doPayment and init3d that were refused because of maxInFlight.',
    }),
    operations: histogram('card_payment.operation.duration', 'How long doPayment, init3d, auth3d and inquire took.'),
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

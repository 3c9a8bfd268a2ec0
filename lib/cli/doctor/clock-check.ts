import type { PaymentStore } from '../../store/payment-store.js';
import { failed, type Finding, ok, skipped } from './finding.js';
import type { Patient } from './patient.js';
import { gatewayOf } from './patient.js';
import { requestOnce } from './request-once.js';
import { withinTime } from './time-limit.js';

/** A `Date` header knows whole seconds, and an answer takes its time. */
const MAX_OFFSET_MS = 5_000;

interface OtherClock {
  readonly of: string;
  /** How far it is ahead of ours, in milliseconds. */
  readonly offsetMs: number;
}

/** This host's clock beside the gateway's and the store's. */
export async function checkClock(
  patient: Patient,
  { store, isGatewayReached }: { readonly store: PaymentStore | null; readonly isGatewayReached: boolean },
): Promise<readonly Finding[]> {
  const url = isGatewayReached ? gatewayOf(patient) : null;
  const others = await Promise.all([
    url && compare("the gateway's", patient, (signal) => dateOf(url, signal)),
    store && compare("the store's", patient, () => store.now()),
  ]);
  const known = others.filter((other) => other !== null);
  if (known.length === 0) return [skipped('clock', 'not compared: neither the gateway nor the store says the time')];
  const off = known.filter(({ offsetMs }) => Math.abs(offsetMs) > MAX_OFFSET_MS);
  if (off.length === 0) return [ok('clock', `agrees with ${known.map(({ of }) => of).join(' and ')}`)];
  const advice = 'Set the clock (NTP): the gateway gets the time of this host, and may refuse it.';
  return off.map(({ of, offsetMs }) => {
    const side = offsetMs > 0 ? 'behind' : 'ahead of';
    return failed('clock', `${Math.round(Math.abs(offsetMs) / 1000)} seconds ${side} ${of}`, advice);
  });
}

/** @returns null where it does not say */
async function compare(
  of: string,
  { limitMs }: Patient,
  ask: (signal: AbortSignal) => Promise<Date | null>,
): Promise<OtherClock | null> {
  try {
    const before = Date.now();
    const theirs = await withinTime(limitMs, ask);
    return theirs && { of, offsetMs: theirs.getTime() - (before + Date.now()) / 2 };
  } catch {
    return null;
  }
}

/** Any answer has the time: that the gateway knows nothing at its root does not matter. */
async function dateOf(url: URL, signal: AbortSignal): Promise<Date | null> {
  const at = await requestOnce(url, signal, ({ headers }) => Date.parse(String(headers['date'])));
  return Number.isNaN(at) ? null : new Date(at);
}

import { refundsAccountOf } from '../payment/account.js';
import { isRefund, type PaymentRecord } from '../payment/payment.js';
import type { PaymentStore, SettledPage, SettledPlace } from '../store/payment-store.js';

/** Which records: payments, refunds and voids, or both. */
export type SettledKind = 'sales' | 'refunds';

export const SETTLED_KINDS: readonly SettledKind[] = ['sales', 'refunds'];

/** From the first moment of a period until just before its last. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

/** After which payment, and after which refund, to go on; null from the beginning. */
export type SettledPlaces = Readonly<Record<SettledKind, SettledPlace | null>>;

export const FROM_THE_BEGINNING: SettledPlaces = { sales: null, refunds: null };

/** What to read. */
export interface SettledQuery {
  readonly account: string;
  readonly period: Period;
  readonly kinds?: readonly SettledKind[];
  readonly after?: SettledPlaces;
}

const PAGE_SIZE = 200;

/**
 * The payments and refunds of an account that were settled in a period, the oldest `finalizedAt` first. It reads a page
 * at a time, so that memory use does not depend on their number. What is settled meanwhile may be among them.
 */
export async function* settledRecords(
  store: Pick<PaymentStore, 'listSettled'>,
  { account, period, kinds = SETTLED_KINDS, after = FROM_THE_BEGINNING }: SettledQuery,
): AsyncGenerator<PaymentRecord> {
  const streams = kinds.map((kind) => {
    const of = kind === 'sales' ? account : refundsAccountOf(account);
    return recordsOf(store, { account: of, ...period, after: after[kind], limit: PAGE_SIZE });
  });
  const next = await Promise.all(streams.map((stream) => stream.next()));
  for (;;) {
    let first = -1;
    for (const [index, { done, value }] of next.entries()) {
      if (done !== true && (first === -1 || isEarlier(value, next[first]!.value as PaymentRecord))) first = index;
    }
    if (first === -1) return;
    yield next[first]!.value as PaymentRecord;
    next[first] = await streams[first]!.next();
  }
}

/** The place of a record, after which to go on. */
export function placesAfter(places: SettledPlaces, record: PaymentRecord): SettledPlaces {
  return { ...places, [isRefund(record) ? 'refunds' : 'sales']: placeOf(record) };
}

async function* recordsOf(
  store: Pick<PaymentStore, 'listSettled'>,
  query: SettledPage,
): AsyncGenerator<PaymentRecord, undefined> {
  let { after } = query;
  for (;;) {
    const page = await store.listSettled({ ...query, after });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < query.limit) return;
    const next = placeOf(last);
    // It would go on for ever.
    if (after && !isBehind(next, after)) throw new Error('The store lists settled records that it listed before.');
    after = next;
  }
}

function placeOf({ finalizedAt, conversationId }: PaymentRecord): SettledPlace {
  return { finalizedAt: finalizedAt ?? new Date(0), conversationId };
}

function isBehind(place: SettledPlace, other: SettledPlace): boolean {
  const difference = place.finalizedAt.getTime() - other.finalizedAt.getTime();
  return difference > 0 || (difference === 0 && place.conversationId !== other.conversationId);
}

function isEarlier(one: PaymentRecord, other: PaymentRecord): boolean {
  return placeOf(one).finalizedAt < placeOf(other).finalizedAt;
}

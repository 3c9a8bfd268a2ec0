import { refundsAccountOf } from '../payment/account.js';
import type { PaymentRecord } from '../payment/payment.js';
import type { PaymentStore, SettledPage, SettledPlace } from '../store/payment-store.js';

/** From the first moment of a period until just before its last. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

const PAGE_SIZE = 200;

/**
 * The payments and refunds of an account that were settled in a period, the oldest `finalizedAt` first. It reads a page
 * at a time, so that memory use does not depend on their number. What is settled meanwhile may be among them.
 */
export async function* settledRecords(
  store: Pick<PaymentStore, 'listSettled'>,
  account: string,
  period: Period,
): AsyncGenerator<PaymentRecord> {
  const streams = [account, refundsAccountOf(account)].map((of) =>
    recordsOf(store, { account: of, ...period, after: null, limit: PAGE_SIZE }),
  );
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

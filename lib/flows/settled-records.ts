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
): AsyncGenerator<PaymentRecord, undefined> {
  let after: SettledPage['after'] = null;
  for (;;) {
    const page = await store.listSettled({ account, ...period, after, limit: PAGE_SIZE });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE_SIZE) return;
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

import { PaymentValidationError } from '../errors/payment-errors.js';
import { isWritable } from '../payment/kept-text.js';
import { callStore } from '../store/store-call.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;

/** Which page of a list. */
export interface StaffPage {
  /** The `next` of the page before; null or absent for the first page. */
  readonly after?: string | null;
  /** How many at most: 1 to 1,000, by default 50. */
  readonly limit?: number;
}

/** A page of a list, and where the next one begins. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** The place of its last row as a text for addresses; null if no row follows. */
  readonly next: string | null;
}

/** Where a row is in its list. */
type RowPlace = readonly [time: Date, id: string, handlerId?: string];

/**
 * Reads a page of a list.
 *
 * @param read gives the rows that follow a place, at most `limit` of them
 * @throws PaymentValidationError, PaymentStoreError
 */
export async function pageOf<Row>(
  { after, limit = DEFAULT_LIMIT }: StaffPage,
  placeOf: (row: Row) => RowPlace,
  read: (after: RowPlace | null, limit: number) => Promise<readonly Row[]>,
): Promise<Listed<Row>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw refused('limit', 'limit', `must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  const place = after === null || after === undefined ? null : placeIn(after);
  // One row more says whether another page follows.
  const found = await callStore('reading', () => read(place, limit + 1));
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : placeText(placeOf(last)) };
}

function placeText([time, ...ids]: RowPlace): string {
  return Buffer.from(JSON.stringify([time.getTime(), ...ids])).toString('base64url');
}

/** @throws PaymentValidationError for a text that is no place */
function placeIn(text: string): RowPlace {
  try {
    const [time, ...ids] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [number, ...string[]];
    const at = new Date(time);
    const isTime = Number.isInteger(time) && !Number.isNaN(at.getTime());
    if (isTime && ids.length > 0 && ids.every(isWritable)) return [at, ...ids] as unknown as RowPlace;
  } catch {
    // Refused below.
  }
  throw refused('after', 'isPlace', 'must be the next of an earlier page, as it was given');
}

/** What staff may not ask for. */
export function refused(path: string, rule: string, message: string): PaymentValidationError {
  return new PaymentValidationError([{ path, rule, message }]);
}

/** Whether the day or the month comes first in a gateway's date. docs/interface.md does not show it. */
export type DateOrder = 'dmy' | 'mdy';

const DATE_TIME = /^(\d{2})[/.-](\d{2})[/.-](\d{4})[ T](\d{2}):(\d{2}):(\d{2})$/;
/** Turkish time, all year round. Unverified: docs/interface.md does not show the time zone. */
const UTC_OFFSET_HOURS = 3;

/** Reads a date such as `21/11/2026 14:05:09`; null for any other text, and for a date that does not exist. */
export function readTransactionDate(text: string, order: DateOrder): Date | null {
  const match = DATE_TIME.exec(text);
  if (!match) return null;
  const [first = 0, second = 0, year = 0, hour = 0, minute = 0, seconds = 0] = match.slice(1).map(Number);
  const [day, month] = order === 'dmy' ? [first, second] : [second, first];
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, seconds));
  const isReal =
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    minute < 60 &&
    seconds < 60;
  return isReal ? new Date(date.getTime() - UTC_OFFSET_HOURS * 3_600_000) : null;
}

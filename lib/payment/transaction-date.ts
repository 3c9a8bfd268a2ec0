/** Whether the day or the month comes first in a gateway's date; the interface does not show it. */
export type DateOrder = 'dmy' | 'mdy';

const DATE_TIME = /^(\d{2})[/.-](\d{2})[/.-](\d{4})[ T](\d{2}):(\d{2}):(\d{2})$/;
/** Turkish time, all year round. That the gateway's dates are in it is unverified. */
const UTC_OFFSET_HOURS = 3;

/** Reads two digits, two digits, four digits, then the time; null for anything else and for dates that do not exist. */
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

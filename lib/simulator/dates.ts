const ISTANBUL_OFFSET_MS = 3 * 60 * 60 * 1000;

/** `dd/MM/yyyy HH:mm:ss`, Istanbul time. */
export function replyDate(at: Date): string {
  const [date = '', time = ''] = inIstanbul(at).toISOString().split('T');
  return `${date.split('-').reverse().join('/')} ${time.slice(0, 8)}`;
}

/** ISO 8601 with the offset of Istanbul. */
export function istanbulTime(at: Date): string {
  return `${inIstanbul(at).toISOString().slice(0, 19)}+03:00`;
}

/** Whether both are on the same day in Istanbul. */
export function isSameDay(one: Date, other: Date): boolean {
  return replyDate(one).slice(0, 10) === replyDate(other).slice(0, 10);
}

/** The first six digits of a bank reference: last digit of the year, day of the year, hour. */
export function referencePrefix(at: Date): string {
  const local = inIstanbul(at);
  const dayOfYear = Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;
  const parts = [local.getUTCFullYear() % 10, String(dayOfYear).padStart(3, '0'), local.toISOString().slice(11, 13)];
  return parts.join('');
}

/** Whether the month of an MMyy expiry is over. */
export function isExpired(expDate: string, now: Date): boolean {
  const monthAfter = Date.UTC(2000 + Number(expDate.slice(2)), Number(expDate.slice(0, 2)), 1);
  return inIstanbul(now).getTime() >= monthAfter;
}

function inIstanbul(at: Date): Date {
  return new Date(at.getTime() + ISTANBUL_OFFSET_MS);
}

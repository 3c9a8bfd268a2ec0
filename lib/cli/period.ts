import type { Period } from '../operations/staff.js';
import { UsageError } from './command.js';

const DEFAULT_ZONE = 'Europe/Istanbul';
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const MOMENT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;
const DAY_MS = 86_400_000;
/** Clocks are put forward and back at full quarters of an hour. */
const QUARTER_MS = 900_000;

/** A period, and the zone in which its days are, and in which times are shown. */
export interface ZonedPeriod extends Period {
  readonly zone: Zone;
}

/**
 * Reads `--from`, `--to` and `--zone`.
 *
 * @throws UsageError that says what to write
 */
export function periodOf(values: {
  readonly from?: string;
  readonly to?: string;
  readonly zone?: string;
}): ZonedPeriod {
  const zone = new Zone(values.zone ?? DEFAULT_ZONE);
  const from = momentOf('from', values.from, zone);
  const to = momentOf('to', values.to, zone);
  if (from < to) return { from, to, zone };
  throw new UsageError(
    `--from ${values.from} is not before --to ${values.to}: give the earlier one to --from. (A day given to --to is ` +
      'included; a moment is not.)',
  );
}

function momentOf(option: 'from' | 'to', text: string | undefined, zone: Zone): Date {
  if (text === undefined) throw new UsageError(`--${option} is missing: give a day, such as --${option} 2026-11-01.`);
  const [, day = text] = MOMENT.exec(text) ?? [];
  const parts = DAY.exec(day);
  if (!parts) {
    throw new UsageError(
      `--${option} takes a day such as 2026-11-01, or a moment with its offset such as 2026-11-01T00:00:00+03:00.`,
    );
  }
  const [year = 0, month = 0, date = 0] = parts.slice(1).map(Number);
  const midnight = new Date(Date.UTC(year, month - 1, date));
  if (midnight.toISOString().slice(0, 10) !== day) throw new UsageError(`--${option}: there is no day ${day}.`);
  if (day !== text) return new Date(text);
  return zone.startOfDay(option === 'from' ? midnight : new Date(midnight.getTime() + DAY_MS));
}

/** A time zone by its IANA name. */
export class Zone {
  private readonly format: Intl.DateTimeFormat;
  private last: { readonly quarter: number; readonly offset: string } | null = null;

  /** @throws UsageError */
  constructor(readonly name: string) {
    // Some releases of Node.js take an offset for a zone, others do not.
    const format = /^[A-Za-z]/.test(name) ? formatIn(name) : null;
    if (!format) {
      throw new UsageError(
        `--zone: there is no time zone "${name}"; it takes a name such as Europe/Istanbul, Europe/Berlin or UTC.`,
      );
    }
    this.format = format;
  }

  /** ISO 8601 with the offset of the zone: `2026-11-01T00:00:00.000+03:00`. */
  text(at: Date): string {
    const offset = this.offset(at);
    return new Date(at.getTime() + offsetMs(offset)).toISOString().slice(0, -1) + offset;
  }

  /** The first moment of a day. Where the clock is put forward at midnight, the day begins later. */
  startOfDay(utcMidnight: Date): Date {
    const midnight = utcMidnight.getTime();
    const offsetAt = (at: number): number => offsetMs(this.offset(new Date(at)));
    // By the offset before the clock is changed that day, and by the one after.
    const guess = midnight - offsetAt(midnight);
    const other = midnight - offsetAt(guess);
    const earlier = Math.min(guess, other);
    return new Date(earlier + offsetAt(earlier) >= midnight ? earlier : Math.max(guess, other));
  }

  /** Such as `+03:00`. Asking `Intl` for each time would take most of an export's CPU time. */
  private offset(at: Date): string {
    const quarter = Math.floor(at.getTime() / QUARTER_MS);
    if (this.last?.quarter !== quarter) this.last = { quarter, offset: this.offsetAt(at) };
    return this.last.offset;
  }

  private offsetAt(at: Date): string {
    const name = this.format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? '+00:00';
  }
}

function offsetMs(offset: string): number {
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

function formatIn(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return null;
  }
}

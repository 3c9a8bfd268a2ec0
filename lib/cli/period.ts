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
  private last: { readonly quarter: number; readonly offsetMs: number } | null = null;

  /** @throws UsageError */
  constructor(readonly name: string) {
    const format = formatIn(name);
    if (!format) {
      throw new UsageError(
        `--zone: there is no time zone "${name}"; it takes a name such as Europe/Istanbul, Europe/Berlin or UTC.`,
      );
    }
    this.format = format;
  }

  /** ISO 8601 with the offset of the zone: `2026-11-01T00:00:00.000+03:00`. */
  text(at: Date): string {
    const offsetMs = this.offsetMs(at);
    const local = new Date(at.getTime() + offsetMs).toISOString().slice(0, -1);
    const minutes = Math.abs(offsetMs) / 60_000;
    const [hours, rest] = [Math.floor(minutes / 60), Math.floor(minutes % 60)].map((part) =>
      String(part).padStart(2, '0'),
    );
    return `${local}${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`;
  }

  /** The first moment of a day. Where the clock is put forward at midnight, the day begins later. */
  startOfDay(utcMidnight: Date): Date {
    const isThere = (at: number): boolean => at + this.offsetMs(new Date(at)) >= utcMidnight.getTime();
    let [before, start] = [utcMidnight.getTime() - DAY_MS, utcMidnight.getTime() + DAY_MS];
    while (start - before > 1) {
      const middle = Math.floor((before + start) / 2);
      if (isThere(middle)) start = middle;
      else before = middle;
    }
    return new Date(start);
  }

  /** Asking `Intl` for each time would take most of an export's CPU time. */
  private offsetMs(at: Date): number {
    const quarter = Math.floor(at.getTime() / QUARTER_MS);
    if (this.last?.quarter !== quarter) this.last = { quarter, offsetMs: this.offsetAt(at) };
    return this.last.offsetMs;
  }

  private offsetAt(at: Date): number {
    const parts = Object.fromEntries(this.format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const whole = Math.floor(at.getTime() / 1_000) * 1_000;
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | null {
  // Some releases of Node.js take an offset for a zone, others do not.
  if (!/^[A-Za-z]/.test(timeZone)) return null;
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
}

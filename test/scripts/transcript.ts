import { Payment, PaymentError, type PaymentHistoryEntry, Refund, type ValidationIssue } from 'nestjs-card-payment';
import type { LedgerEvent } from '../../lib/payment/payment-event.js';
import { wrapped } from '../rigs/wrapped.js';

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
/** Shown only where it is true. */
const UNUSUAL = { allowRepeat: true };
/** What stands before the other facts of a payment or refund. */
const IN_HEADING: ReadonlySet<string> = new Set(['version', 'state', 'reason', 'conversationId', 'refundId']);

type Facts = ReadonlyMap<string, string>;

/**
 * What is seen of a script, as text that is the same in each run: ids are numbered in the order in which they are met,
 * and times count from the start of the script. Of a payment or refund only what has changed since it was last shown is
 * written; for a version that was shown before that is nothing but its state.
 */
export class Transcript {
  private readonly lines: string[] = [];
  /** `id1` or `refund1` by the id of the payment or refund. */
  private readonly words = new Map<string, string>();
  /** The facts last shown of each payment and refund, and of each version. */
  private readonly shown = new Map<string, Facts>();

  private readonly events = new Set<string>();
  /** What nearly every payment and refund shows; where one shows anything else, it is written. */
  private readonly usual: Facts;

  constructor(
    private readonly start: Date,
    account: string,
  ) {
    this.usual = new Map(Object.entries({ account, currencyCode: '949', stored: 'true' }));
  }

  /** A title or a step, as it stands in the script. */
  copy(indent: number, line: string): void {
    this.lines.push('  '.repeat(indent) + line);
  }

  write(indent: number, text: string): void {
    this.lines.push(wrapped(this.renamed(text), '  '.repeat(indent)));
  }

  toString(): string {
    return this.lines.join('\n');
  }

  /** The ids of payments (`id`) or of refunds, in the order in which they were met. */
  ids(kind: 'id' | 'refund'): string[] {
    return [...this.words].flatMap(([actual, word]) => (word.replace(/\d+$/, '') === kind ? [actual] : []));
  }

  /** The id that a script means by `id1` or `refund1`. */
  actual(word: string): string {
    return [...this.words].find(([, known]) => known === word)?.[0] ?? word;
  }

  describe(value: unknown): string {
    if (value instanceof Date) return this.time(value);
    if (Array.isArray(value)) return value.map((item) => this.describe(item)).join('; ') || 'none';
    if (value instanceof Payment || value instanceof Refund) return this.record(value);
    if (value instanceof PaymentError) return this.error(value);
    if (typeof value === 'object' && value !== null) return factsText(this.facts(value));
    return String(value);
  }

  /** One that was shown before, to another handler, in short. */
  event({ eventId, type, occurredAt, ...shown }: LedgerEvent): string {
    // If the host chose the id of the payment, a random text follows the version.
    const heading = `${type} ${eventId.replace(/-[\da-f]{12}$/, '-nonce')}`;
    const text = (): string => `${heading} of ${this.time(occurredAt)} with ${this.describe({ ...shown })}`;
    const [first, again] = [text(), text()];
    const isShown = this.events.has(again);
    this.events.add(again);
    return isShown ? heading : first;
  }

  history(entries: readonly PaymentHistoryEntry[]): string {
    const lines = entries.map(({ version, state, at, ...why }) => {
      return [`v${version} ${state} ${this.time(at)}`, ...Array.from(this.facts(why), (fact) => fact.join(' '))];
    });
    return lines.map((line) => line.join(', ')).join('; ');
  }

  private record(value: Payment | Refund): string {
    this.name('id', value.conversationId);
    const id = value instanceof Refund ? value.refundId : value.conversationId;
    if (value instanceof Refund) this.name('refund', id);
    const version = `${id} v${value.version}`;
    const heading = [version, value.state, value.reason].filter((word) => word !== null).join(' ');
    const [now, same, before] = [this.facts(value), this.shown.get(version), this.shown.get(id) ?? this.usual];
    this.shown.set(version, now).set(id, now);
    if (same && factsText(same) === factsText(now)) return heading;
    const changed = [...new Set([...now.keys(), ...before.keys()])]
      .filter((name) => now.get(name) !== before.get(name) && !IN_HEADING.has(name))
      .sort();
    const changes = new Map(changed.map((name) => [name, now.get(name) ?? 'null']));
    return `${heading} (${value.constructor.name}: ${factsText(changes)})`;
  }

  private error({ name, code, statusCode, message, ...more }: PaymentError): string {
    const { issues, ...rest } = more as { issues?: readonly ValidationIssue[] };
    // Of input that is refused without the words, which are in a language of the reader's.
    const shown = this.facts(issues ? { issues: issues.map(({ path, rule }) => `${path} ${rule}`) } : rest);
    const heading = [name, code, statusCode].filter((word) => word !== undefined).join(' ');
    const words = issues ? '' : `: ${message.replace(/127\.0\.0\.1:\d+/g, 'gateway.example')}`;
    return `${heading}${shown.size > 0 ? ` (${factsText(shown)})` : ''}${words}`;
  }

  private facts(value: object): Facts {
    const isShown = ([name, part]: [string, unknown]): boolean =>
      (part ?? null) !== null && !(name in UNUSUAL && !part);
    const entries = Object.entries(value).filter(isShown);
    return new Map(entries.map(([name, part]) => [name, this.describe(part)]));
  }

  private time(at: Date): string {
    let left = at.getTime() - this.start.getTime();
    const parts = Object.entries(UNITS).map(([unit, ms]) => {
      const count = Math.trunc(left / ms);
      left -= count * ms;
      return count === 0 ? '' : `${count}${unit}`;
    });
    return `+${parts.join('')}${left === 0 ? '' : `${left}ms`}`;
  }

  private name(kind: 'id' | 'refund', actual: string): void {
    if (!this.words.has(actual)) this.words.set(actual, `${kind}${this.ids(kind).length + 1}`);
  }

  /** Payments and refunds that the log tells of have names, too. */
  private renamed(text: string): string {
    const [, refund, of, payment] = /^logs \w+ (?:(?:Refund|Void) (\S+) of payment |(Payment) )(\w+)/.exec(text) ?? [];
    if (refund !== undefined) this.name('refund', refund);
    if (payment !== undefined && of !== undefined) this.name('id', payment);
    return [...this.words].reduce((renamed, [actual, word]) => renamed.replaceAll(actual, word), text);
  }
}

function factsText(facts: Facts): string {
  return Array.from(facts, ([name, text]) => `${name} ${text}`).join(', ') || 'nothing';
}

/** Of `1d`, `4h30m` and the like. */
export function msOf(time: string): number {
  const parts = [...time.matchAll(/(\d+)([dhms])/g)];
  return parts.reduce((ms, [, count, unit]) => ms + Number(count) * UNITS[unit as keyof typeof UNITS], 0);
}

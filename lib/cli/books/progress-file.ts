import { readFile } from 'node:fs/promises';
import { type ComparisonProgress, NO_PROGRESS, type OpenComparison } from '../../flows/comparison-run.js';
import type { SettledPlaces } from '../../flows/settled-records.js';
import type { SettledPlace } from '../../store/payment-store.js';
import { CommandFailedError, UsageError } from '../command.js';
import { WholeFile } from './whole-file.js';

const FORMAT = 'nestjs-card-payment comparison 1';
/** Ids of payments are nobody else's business. */
const MODE = 0o600;
const RESULTS: readonly unknown[] = [
  'differing',
  'unclear',
  'unanswered',
  'waiting',
] satisfies OpenComparison['result'][];
const COUNTS = ['agreed', 'amountHidden', 'notAsked', 'changed'] as const;

/** What a comparison is of: another one begins anew. */
export type ComparisonScope = Readonly<Record<'account' | 'from' | 'to' | 'only' | 'states', string>>;

/** Where a comparison keeps how far it has come: ids, and nothing else of a payment. */
export class ProgressFile {
  constructor(
    private readonly path: string,
    private readonly scope: ComparisonScope,
  ) {}

  /**
   * @returns null if there is none yet, or it is of another comparison
   * @throws UsageError if the file is something else, CommandFailedError if it cannot be read
   */
  async read(): Promise<ComparisonProgress | null> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new CommandFailedError(`--progress: ${this.path} cannot be read; is it a file, for this user?`);
    }
    const stored = parsed(text);
    const progress = stored && progressIn(stored['progress']);
    if (stored?.['format'] !== FORMAT || !progress) {
      throw new UsageError(
        `--progress: ${this.path} was not written by this command: name another file, or delete this one to begin anew.`,
      );
    }
    return JSON.stringify(stored['scope']) === JSON.stringify(this.scope) ? progress : null;
  }

  /** @throws UsageError, CommandFailedError */
  async write(progress: ComparisonProgress): Promise<void> {
    const file = await WholeFile.begin(this.path, 'progress', MODE);
    try {
      await file.write(`${JSON.stringify({ format: FORMAT, scope: this.scope, progress })}\n`);
      await file.finish();
    } finally {
      await file.discard();
    }
  }
}

type Parsed = Readonly<Record<string, unknown>>;

function parsed(text: string): Parsed | null {
  try {
    return objectIn(JSON.parse(text));
  } catch {
    return null;
  }
}

function objectIn(value: unknown): Parsed | null {
  return typeof value === 'object' && value !== null ? (value as Parsed) : null;
}

/** @returns null if it is none */
function progressIn(value: unknown): ComparisonProgress | null {
  const stored = objectIn(value);
  const after = placesIn(stored?.['after']);
  const open = stored?.['open'];
  if (!stored || !after || !Array.isArray(open) || !open.every(isOpen)) return null;
  if (new Set(open.map(({ kind, id }) => `${kind} ${id}`)).size < open.length) return null;
  const counts = COUNTS.map((name) => [name, stored[name]] as const);
  if (!counts.every(([, count]) => Number.isSafeInteger(count) && Number(count) >= 0)) return null;
  return { ...NO_PROGRESS, ...Object.fromEntries(counts), after, open, isThrough: stored['isThrough'] === true };
}

function placesIn(value: unknown): SettledPlaces | null {
  const stored = objectIn(value);
  const [sales, refunds] = [placeIn(stored?.['sales']), placeIn(stored?.['refunds'])];
  return sales === undefined || refunds === undefined ? null : { sales, refunds };
}

/** @returns undefined if it is none */
function placeIn(value: unknown): SettledPlace | null | undefined {
  if (value === null) return null;
  const { finalizedAt, conversationId } = objectIn(value) ?? {};
  if (typeof finalizedAt !== 'string' || typeof conversationId !== 'string') return undefined;
  const at = new Date(finalizedAt);
  return Number.isNaN(at.getTime()) ? undefined : { finalizedAt: at, conversationId };
}

function isOpen(value: unknown): value is OpenComparison {
  const { kind, id, result } = objectIn(value) ?? {};
  return (kind === 'sales' || kind === 'refunds') && typeof id === 'string' && RESULTS.includes(result);
}

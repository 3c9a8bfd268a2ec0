import { missingPackages } from '../driver-check.js';
import type { SqlEngine } from './engine.js';

const SHOWN: unique symbol = Symbol.for('nestjs-card-payment.shown');

/**
 * Why a store cannot be opened, in words of this package, which hold no user and no password. Whatever else is thrown
 * is never shown. It is marked because the ESM and the CommonJS build have classes of their own.
 */
export class ShownError extends Error {
  readonly [SHOWN] = true;
}

export function isShown(error: unknown): error is ShownError {
  return typeof error === 'object' && error !== null && SHOWN in error;
}

/** A database that speaks the protocol of another one, and lacks what the promises rest on. */
export interface UnfitDatabase {
  readonly name: string;
  readonly why: string;
  /** What it says of its version. */
  readonly version?: RegExp;
  /** The hosts that offer it. */
  readonly host?: RegExp;
  /** Finds a row in a catalog of its own, where it gives the version of the other one. */
  readonly rowIn?: string;
}

export function refusalOf({ name, why }: UnfitDatabase): ShownError {
  return new ShownError(`payments cannot be kept in ${name}: it ${why}`);
}

/** @throws ShownError when it is one of these */
export function refuseUnfit(unfit: readonly UnfitDatabase[], isIt: (one: UnfitDatabase) => boolean | undefined): void {
  const found = unfit.find(isIt);
  if (found) throw refusalOf(found);
}

/** What to do about a URL that cannot be read, since most often the password is the cause. */
export const ESCAPES_IN_URLS = 'in its user and password write / ? # @ : % as %2F %3F %23 %40 %3A %25';

/** A text without the escapes of a URL; null when a % in it begins none. */
export function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A SQLite file, unless someone has written a user or a key into its name. */
export function shownFile(file: string): string {
  return /[@?#]/.test(file) ? '…' : file;
}

/** Imports a driver, or Kysely for it: packages that only some installations have. */
export async function importDriver<T>(driver: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
      throw new ShownError(`a package is missing: npm install ${missingPackages(['kysely', driver])}`);
    }
    throw error;
  }
}

/**
 * The code of what a driver threw, or ''. It may be an error of another realm, for which `instanceof Error` is false
 * here.
 */
export function codeOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_/]{1,60}$/.test(code) ? code : '';
}

/** Tells an operator why a database cannot be opened. The driver's own error may hold a password, and is not shown. */
export function openError(error: unknown, { displayName, failures, uncodedFailures }: SqlEngine): Error {
  if (isShown(error)) return new ShownError(error.message);
  const { message } = Object(error) as { message?: unknown };
  const code = codeOf(error) || (uncodedFailures.find(([text]) => text.test(String(message)))?.[1] ?? '');
  const [, meaning = 'cannot be used'] = failures.find(([pattern]) => pattern.test(code)) ?? [];
  return new ShownError(`${displayName} ${meaning}${code ? ` (${code})` : ''}`);
}

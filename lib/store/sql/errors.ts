import { missingPackages } from '../driver-check.js';
import type { SqlEngine } from './engine.js';

/** The tables are of a version that this release cannot work with. */
export class SchemaError extends Error {}

/** There is no such database, and none may be created. Its message may be shown. */
export class MissingDatabaseError extends Error {}

/** A package that the database needs is not installed. */
export class MissingDriverError extends Error {
  /** @param packages what the database needs, separated by spaces */
  constructor(packages: string) {
    super(`a package is missing: npm install ${missingPackages(packages.split(' '))}`);
  }
}

/** This Node.js is too old for the driver, which would end the process without an error. Its message may be shown. */
export class UnfitDriverError extends Error {}

/** The server cannot keep the store's promises. Its message may be shown. */
export class UnfitServerError extends Error {}

/** Refuses a database that speaks the protocol of another one, and lacks what the promises rest on. */
export function unfitDatabase(name: string, why: string): UnfitServerError {
  return new UnfitServerError(`payments cannot be kept in ${name}: it ${why}`);
}

const SHOWN = [SchemaError, MissingDatabaseError, MissingDriverError, UnfitDriverError, UnfitServerError];

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

/** Imports a package that only some installations have. */
export async function importDriver<T>(packages: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') throw new MissingDriverError(packages);
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
  if (SHOWN.some((kind) => error instanceof kind)) return new Error((error as Error).message);
  const { message } = Object(error) as { message?: unknown };
  const code = codeOf(error) || (uncodedFailures.find(([text]) => text.test(String(message)))?.[1] ?? '');
  const [, meaning = 'cannot be used'] = failures.find(([pattern]) => pattern.test(code)) ?? [];
  return new Error(`${displayName} ${meaning}${code ? ` (${code})` : ''}`);
}

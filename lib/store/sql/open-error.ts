import { codeOf } from './driver-code.js';
import { MissingDriverError } from './import-driver.js';
import type { SqlDialect } from './payment-schema.js';

/** The tables are of a version that this release cannot work with. */
export class SchemaError extends Error {}

const NO_ANSWER = 'does not answer; is it running, and reachable from here?';

const MEANINGS: Readonly<Record<SqlDialect, readonly (readonly [code: RegExp, meaning: string])[]>> = {
  postgres: [
    [/^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE)/, NO_ANSWER],
    [/^28/, 'refuses this user or password'],
    [/^3D000$/, 'has no such database'],
    [/^42501$/, 'does not let this user make or read the payment tables'],
    [/^53300$/, 'has too many connections already'],
    [/^57P03$/, 'is starting up or shutting down'],
    [/CERT|SELF_SIGNED|TLS|SSL/, 'has a TLS certificate that cannot be trusted'],
  ],
  sqlite: [
    [/^SQLITE_CANTOPEN/, 'file cannot be opened; does its folder exist, and may this process write there?'],
    [/^SQLITE_(READONLY|PERM|AUTH)/, 'file may not be written by this process'],
    [/^SQLITE_(NOTADB|CORRUPT)/, 'file is damaged, or no SQLite database'],
    [/^SQLITE_(BUSY|LOCKED)/, 'file is locked by another program'],
    [/^ERR_DLOPEN_FAILED$/, 'driver has no build for this Node.js: npm rebuild better-sqlite3'],
    [/^SQLITE_(FULL|IOERR)/, 'file cannot be written; is the disk full?'],
  ],
};

const NAMES: Readonly<Record<SqlDialect, string>> = { postgres: 'PostgreSQL', sqlite: 'the SQLite' };

/** What an operator needs to know. Made afresh: a driver's own error may hold a password. */
export function openError(error: unknown, dialect: SqlDialect): Error {
  if (error instanceof SchemaError || error instanceof MissingDriverError) return new Error(error.message);
  const code = codeOf(error);
  const [, meaning] = MEANINGS[dialect].find(([pattern]) => pattern.test(code)) ?? [];
  const told = meaning ?? (dialect === 'sqlite' ? 'file cannot be opened' : 'cannot be used');
  return new Error(`${NAMES[dialect]} ${told}${code ? ` (${code})` : ''}`);
}

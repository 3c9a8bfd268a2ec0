import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'mysql2';
import { ESCAPES_IN_URLS, ShownError, unescaped } from '../errors.js';
import { looksAtNoCertificate, STRONG_TLS } from '../../../runtime/network.js';
import type { Environment } from '../engine.js';

const FORM = /^(?:mysql|mariadb):\/\/./;
const EXAMPLE = `mysql://user:password@host:3306/database; ${ESCAPES_IN_URLS}`;
const OPTIONS = ['ssl', 'socketPath'];
/** Texts of the option `ssl` that ask for TLS with the certificates that Node.js trusts. */
const WITH_TLS: ReadonlySet<string> = new Set(['true', '1', '{"rejectunauthorized":true}', '{}']);
const WITHOUT_TLS: ReadonlySet<string> = new Set(['', 'false', '0']);

/** What a URL says of a server, for the driver. */
export type MysqlAddress = Pick<
  ConnectionOptions,
  'host' | 'port' | 'socketPath' | 'user' | 'password' | 'database' | 'ssl'
>;

/**
 * Reads a URL such as `mysql://user:password@host:3306/database?ssl=true`. The driver is not given the URL itself,
 * since it takes any option from it, among them some that would make errors show values.
 *
 * @throws Error that says what is wrong, and does not show the URL
 */
export function mysqlAddress(url: string): MysqlAddress {
  if (!FORM.test(url) || !URL.canParse(url)) throw malformed();
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const database = decoded(pathname.slice(1));
  // With such a character, part of the password is taken for the database.
  if (/[/@:]/.test(database)) throw malformed();
  if (database === '') throw new ShownError(`a MySQL URL names a database: ${EXAMPLE}`);
  const unknown = [...searchParams.keys()].find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new ShownError(
      `a MySQL URL may have the options ${OPTIONS.join(' and ')} only; the store sets the others itself`,
    );
  }
  const socketPath = searchParams.get('socketPath');
  const host = decoded(hostname.replace(/^\[(.*)\]$/, '$1'));
  const tls = tlsOf(searchParams.get('ssl') ?? '');
  // It compares the certificate with "localhost" then.
  if (tls.ssl && !socketPath && isIP(host)) {
    throw new ShownError(
      'with the option ssl a MySQL URL needs the name of its host: mysql2 checks no certificate of an IP address',
    );
  }
  return {
    ...(socketPath ? { socketPath } : { host, port: Number(port || 3306) }),
    user: decoded(username),
    password: decoded(password),
    database,
    ...tls,
  };
}

function malformed(): ShownError {
  return new ShownError(`a MySQL URL looks like ${EXAMPLE}`);
}

function decoded(text: string): string {
  const plain = unescaped(text);
  if (plain === null) throw new ShownError('a MySQL URL must have each % in it written as %25');
  return plain;
}

/** The host that is reached without TLS, or without checking its certificate; null if there is none. */
export function unprotectedMysqlHost(url: string, environment: Environment): string | null {
  if (!FORM.test(url) || !URL.canParse(url)) return null;
  const { hostname, searchParams } = new URL(url);
  if (searchParams.get('socketPath')) return null;
  const hasTls = !WITHOUT_TLS.has((searchParams.get('ssl') ?? '').toLowerCase());
  return hasTls && !looksAtNoCertificate(environment) ? null : hostname || 'localhost';
}

/** With TLS, the certificate and its name are always checked. */
function tlsOf(ssl: string): Pick<MysqlAddress, 'ssl'> {
  const text = ssl.replaceAll(' ', '').toLowerCase();
  if (WITHOUT_TLS.has(text)) return {};
  const tls = { ...STRONG_TLS, rejectUnauthorized: true, verifyIdentity: true };
  if (WITH_TLS.has(text)) return { ssl: tls };
  if (text.startsWith('{')) {
    throw new ShownError(
      'the option ssl of a MySQL URL is true or a file of certificates; a certificate is always checked',
    );
  }
  return { ssl: { ...tls, ca: certificatesIn(ssl) } };
}

function certificatesIn(file: string): string {
  const problem = 'the option ssl of a MySQL URL is true or a file of certificates, and ';
  let certificates: string;
  try {
    certificates = readFileSync(file, 'utf8');
  } catch {
    throw new ShownError(`${problem}there is no such file`);
  }
  if (!certificates.includes('BEGIN CERTIFICATE')) throw new ShownError(`${problem}this file has none`);
  return certificates;
}

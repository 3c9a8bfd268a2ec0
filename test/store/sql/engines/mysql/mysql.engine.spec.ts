import { codeOf, openError } from '../../../../../lib/store/sql/errors.js';
import { mariadbEngine, mysqlEngine } from '../../../../../lib/store/sql/engines/mysql.js';

const coded = (code: string) => Object.assign(new Error('user:secret@host'), { code });
const said = (code: string) => openError(coded(code), mysqlEngine).message;

describe('what its codes mean', () => {
  const UNREACHABLE = 'does not answer; is it running, and reachable from here?';

  test.each([
    ...['ECONNRESET', 'ENOTFOUND', 'ENOENT', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE'].map(
      (code) => [code, UNREACHABLE],
    ),
    ['PROTOCOL_CONNECTION_LOST', UNREACHABLE],
    [
      'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
      'refuses this user or password; if it takes connections by TLS alone, put ssl=true into the URL',
    ],
    ['ER_SECURE_TRANSPORT_REQUIRED', 'takes connections by TLS alone; put ssl=true into the URL'],
    ['ER_HOST_NOT_PRIVILEGED', 'does not let this host in; make a user for it'],
    ['ER_HOST_IS_BLOCKED', 'has blocked this host after failed connections; run FLUSH HOSTS on it'],
    ...['AUTH_SWITCH_PLUGIN_ERROR', 'ER_NOT_SUPPORTED_AUTH_MODE'].map((code) => [
      code,
      'wants a log-in that mysql2 does not know; give this user caching_sha2_password or mysql_native_password',
    ]),
    ...['ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED'].map((code) => [
      code,
      'has too many connections already; raise its max_connections, or the limit of this user',
    ]),
    ['ER_UNKNOWN_COM_ERROR', 'is not ready: this node is no part of its cluster'],
    ...['ER_OPTION_PREVENTS_STATEMENT', 'ER_READ_ONLY_MODE', 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION'].map((code) => [
      code,
      'is read-only; is it a replica?',
    ]),
    ['ER_LOCK_WAIT_TIMEOUT', 'is being changed by another process that does not finish; try again'],
    ['EPROTO', 'does not agree on TLS: 1.2 or 1.3, with forward secrecy'],
    ['HANDSHAKE_SSL_ERROR', 'does not agree on TLS, or has a certificate that cannot be trusted'],
  ])('%s: %s', (code, meaning) => {
    expect(said(code)).toBe(`MySQL ${meaning} (${code})`);
  });

  test.each(['ER_BAD_DB_ERROR', 'ER_ACCESS_DENIED_ERROR', 'EPROTO', 'HANDSHAKE_NO_SSL_SUPPORT'])(
    '%s means that as a whole only',
    (code) => {
      expect([said(`X${code}`), said(`${code}X`)]).toEqual([
        `MySQL cannot be used (X${code})`,
        `MySQL cannot be used (${code}X)`,
      ]);
    },
  );

  test('a connection that comes too late has no code', () => {
    expect(openError(new Error('there was no answer: timeout'), mariadbEngine).message).toBe(
      `MariaDB ${UNREACHABLE} (ETIMEDOUT)`,
    );
    expect(openError(new Error('anything else'), mariadbEngine).message).toBe('MariaDB cannot be used');
  });

  test.each([
    ['ER_LOCK_DEADLOCK', true],
    ['ER_LOCK_WAIT_TIMEOUT', true],
    ['ER_TRANSACTION_ROLLBACK_DURING_COMMIT', true],
    ['ER_DUP_ENTRY', false],
    ['', false],
  ])('another process was in the way: %s, %s', (code, isBusy) => {
    expect(mysqlEngine.isBusy(coded(code))).toBe(isBusy);
    expect(codeOf(coded(code))).toBe(code);
  });
});

test.each([
  ['mysql://host/db', mysqlEngine],
  ['mariadb://host/db', mariadbEngine],
  ['mysqli://host/db', undefined],
  ['mysql2://host/db', undefined],
  ['MySQL://host/db', undefined],
  ['mysql:host', undefined],
  ['jdbc:mysql://host/db', undefined],
])('whose URL is %s', (url, owner) => {
  expect([mysqlEngine, mariadbEngine].filter((engine) => engine.owns(url))).toEqual(owner ? [owner] : []);
});

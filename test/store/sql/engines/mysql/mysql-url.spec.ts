import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STRONG_TLS } from '../../../../../lib/runtime/network.js';
import { mysqlAddress, unprotectedMysqlHost } from '../../../../../lib/store/sql/engines/mysql-url.js';
import { makeScratchFolder } from '../../../../rigs/scratch-folder.js';

const scratch = makeScratchFolder('mysql-url');
const file = join(scratch.path, 'authority of mine.pem');
writeFileSync(file, '-----BEGIN CERTIFICATE-----');

describe('mysql url', () => {
  afterAll(() => scratch.remove());

  const VERIFIED = { ...STRONG_TLS, rejectUnauthorized: true, verifyIdentity: true };

  test.each([
    [
      'mysql://ada:geheim@db.example:3307/shop',
      { host: 'db.example', port: 3307, user: 'ada', password: 'geheim', database: 'shop' },
    ],
    ['mariadb://ada@db.example/shop', { host: 'db.example', port: 3306, user: 'ada', password: '', database: 'shop' }],
    [
      'mysql://a%40da:50%25%2F%3A%20%C3%B6@db.example/shop%2D1',
      { host: 'db.example', port: 3306, user: 'a@da', password: '50%/: ö', database: 'shop-1' },
    ],
    ['mysql://ada:ge@heim@db.example/shop', { host: 'db.example', password: 'ge@heim' }],
    ['mysql://ada@[2001:db8::1]:3307/shop', { host: '2001:db8::1', port: 3307 }],
    ['mysql://ada@[::1]/shop', { host: '::1', port: 3306 }],
    ['mysql://ada@db.example/shop?ssl=', { host: 'db.example' }],
  ])('%s', (url, address) => {
    expect(mysqlAddress(url)).toMatchObject(address);
    expect(mysqlAddress(url)).not.toHaveProperty('ssl');
  });

  test('a socket is in place of host and port', () => {
    const url = 'mysql://ada:geheim@localhost/shop?socketPath=%2Frun%2Fmysqld%2Fmysqld.sock';
    expect(mysqlAddress(url)).toEqual({
      socketPath: '/run/mysqld/mysqld.sock',
      user: 'ada',
      password: 'geheim',
      database: 'shop',
    });
    expect(mysqlAddress('mysql:///shop?socketPath=/run/mysqld.sock')).toMatchObject({ socketPath: '/run/mysqld.sock' });
  });

  test.each(['true', '1', '{}', '{"rejectUnauthorized":true}', '{ "rejectUnauthorized": true }'])(
    'ssl=%s checks the certificate and its name, by the authorities that Node.js trusts',
    (ssl) => {
      const url = `mysql://ada@db.example/shop?ssl=${encodeURIComponent(ssl)}`;
      expect(mysqlAddress(url).ssl).toEqual(VERIFIED);
    },
  );

  test('ssl=FILE checks them by the authorities of the file alone', () => {
    expect(mysqlAddress(`mysql://ada@db.example/shop?ssl=${encodeURIComponent(file)}`).ssl).toEqual({
      ...VERIFIED,
      ca: '-----BEGIN CERTIFICATE-----',
    });
  });

  test.each(['false', '0', ''])('ssl=%s asks for no TLS', (ssl) => {
    expect(mysqlAddress(`mysql://ada@db.example/shop?ssl=${ssl}`)).not.toHaveProperty('ssl');
  });

  const EXAMPLE =
    'mysql://user:password@host:3306/database; in its user and password write / ? # @ : % as %2F %3F %23 %40 %3A %25';
  const FORM = `a MySQL URL looks like ${EXAMPLE}`;
  const BY_NAME =
    'with the option ssl a MySQL URL needs the name of its host: mysql2 checks no certificate of an IP address';
  const OPTIONS = 'a MySQL URL may have the options ssl and socketPath only; the store sets the others itself';

  test.each([
    ['mysql://ada:geheim@', FORM],
    ['mysql://ada:geheim@db.example:geheim/shop', FORM],
    ['mysqli://ada:geheim@db.example/shop', FORM],
    ['mysql:geheim', FORM],
    ['mysql://ada:12/geheim@db.example:3306/shop', FORM],
    ['mysql://ada:geheim@db.example/shop/', FORM],
    ['mysql://ada:geheim@db.example', `a MySQL URL names a database: ${EXAMPLE}`],
    ['mysql://ada:geheim@db.example/', `a MySQL URL names a database: ${EXAMPLE}`],
    ['mysql://ada:geheim@db.example/shop?debug=true', OPTIONS],
    ['mysql://ada:geheim@db.example/shop?ssl=true&flags=-FOUND_ROWS', OPTIONS],
    ['mysql://ada:geheim@db.example/shop?SSL=true', OPTIONS],
    ['mysql://ada:geheim50%@db.example/shop', 'a MySQL URL must have each % in it written as %25'],
    ['mysql://ada:geheim@db.example/geheim50%', 'a MySQL URL must have each % in it written as %25'],
    [
      'mysql://ada:geheim@db.example/shop?ssl={"rejectUnauthorized":false}',
      'the option ssl of a MySQL URL is true or a file of certificates; a certificate is always checked',
    ],
    [
      'mysql://ada:geheim@db.example/shop?ssl=/geheim/none.pem',
      'the option ssl of a MySQL URL is true or a file of certificates, and there is no such file',
    ],
    ['mysql://ada:geheim@10.0.0.7/shop?ssl=true', BY_NAME],
    ['mysql://ada:geheim@[2001:db8::1]/shop?ssl=true', BY_NAME],
  ])('%s is refused, and not shown', (url, message) => {
    let error: unknown;
    try {
      mysqlAddress(url);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toBe(message);
    expect((error as Error).message).not.toMatch(/geheim|\bada\b/);
  });

  describe('the host that is reached without verified TLS', () => {
    test.each([
      ['mysql://ada@db.example/shop', 'db.example'],
      ['mariadb://ada@10.0.0.7:3307/shop', '10.0.0.7'],
      ['mysql://ada@db.example/shop?ssl=false', 'db.example'],
      ['mysql://ada@db.example/shop?ssl=0', 'db.example'],
      ['mysql://ada@db.example/shop?ssl=', 'db.example'],
      ['mysql://[::1]/shop', '[::1]'],
      ['mysql:///shop', 'localhost'],
      ['mysql://ada@db.example/shop?ssl=true', null],
      ['mysql://ada@db.example/shop?ssl=/authority.pem', null],
      ['mysql://localhost/shop?socketPath=/run/mysqld.sock', null],
      ['mysql://ada@', null],
      ['postgres://db.example/shop', null],
    ])('of %s: %s', (url, host) => {
      expect(unprotectedMysqlHost(url, {})).toBe(host);
    });

    test('is every host but a socket where Node looks at no certificate', () => {
      const blind = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
      expect(unprotectedMysqlHost('mysql://ada@db.example/shop?ssl=true', blind)).toBe('db.example');
      expect(unprotectedMysqlHost('mysql:///shop?socketPath=/run/mysqld.sock', blind)).toBeNull();
      expect(
        unprotectedMysqlHost('mysql://ada@db.example/shop?ssl=true', { NODE_TLS_REJECT_UNAUTHORIZED: '1' }),
      ).toBeNull();
    });
  });
});

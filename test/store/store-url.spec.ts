import { SQL_ENGINES } from '../../lib/store/sql/engines.js';
import {
  credentialsOf,
  STORE_URL_FORMS,
  storeKindOf,
  storeUrlProblem,
  STRAY_PERCENT,
} from '../../lib/store/store-url.js';

test.each([
  ['memory:', 'memory'],
  ['sqlite:payments.db', 'sql'],
  ['postgres://host/shop', 'sql'],
  ['postgresql://host/shop', 'sql'],
  ['redis://host', 'redis'],
  ['rediss://host', 'redis'],
  ['sqlite:', null],
  ['postgres://', null],
  ['redis://', null],
  ['memory:x', null],
  ['x-redis://host', null],
  ['mysql://host/shop', 'sql'],
  ['mariadb://host/shop', 'sql'],
  ['mysql://', null],
  ['mysqli://host/shop', null],
  ['oracle://host/shop', null],
  ['', null],
])('%s', (url, kind) => {
  expect(storeKindOf(url)).toBe(kind);
});

/** Passwords with a % that begins no escape, or none of a text. */
const STRAY = ['50%', '100%zz', '%', '%4', 'a%ff', 'a%20%b'];

test.each(STRAY.flatMap((part) => [`ada:${part}`, `${part}:geheim`, `:${part}`]))(
  'a stray %% in %s@ is a problem that is named without being shown',
  (userInfo) => {
    for (const scheme of ['postgres', 'postgresql', 'mysql', 'mariadb', 'redis', 'rediss']) {
      expect(credentialsOf(`${scheme}://${userInfo}@host/0`)).toBeNull();
      expect(storeUrlProblem(`${scheme}://${userInfo}@host/0`)).toBe(STRAY_PERCENT);
    }
  },
);

test('user and password are read as they are meant', () => {
  expect(credentialsOf('redis://ada:50%25%20%C3%B6@host')).toEqual({ user: 'ada', password: '50% ö' });
  expect(credentialsOf('postgres://host/shop')).toEqual({ user: '', password: '' });
  expect(storeUrlProblem('redis://ada:50%25@host')).toBeNull();
});

test('a text that is not a URL has no user and no password', () => {
  expect(credentialsOf('payments.db')).toEqual({ user: '', password: '' });
});

test('a URL of no store is told how one looks', () => {
  expect(storeUrlProblem('oracle://ada:geheim@host')).toBe(
    'must be memory:, sqlite:FILE, postgres://…, mysql://…, mariadb://…, redis://… (rediss:// with TLS)',
  );
});

test('a % in the name of a file is one', () => {
  for (const url of ['sqlite:/srv/100%/shop.db', 'sqlite:50%.db', 'memory:']) expect(storeUrlProblem(url)).toBeNull();
});

test('the forms are those of every store', () => {
  const sqlForms = SQL_ENGINES.map(({ urlForm }) => urlForm);
  expect(sqlForms).toEqual(expect.arrayContaining(['sqlite:FILE', 'postgres://…', 'mysql://…', 'mariadb://…']));
  expect(STORE_URL_FORMS).toEqual(['memory:', ...sqlForms, 'redis://…']);
});

import { engineOfUrl, SQL_ENGINES } from '../../lib/store/sql/engines.js';
import { openSqlStore } from '../../lib/store/sql/index.js';
import { isShown } from '../../lib/store/sql/errors.js';
import { shownPlace, shownUrl, STORE_URL_FORMS, storeUrlProblem } from '../../lib/store/store-url.js';
import { SECRET_URLS } from './secret-urls.js';

const NO_STORE = `must be ${STORE_URL_FORMS.join(', ')}`;
const STRAY_PERCENT = 'must have each % in its user and password written as %25';
const REDIS =
  'must not be Redis: a fail-over of Redis may lose an acknowledged write, and a payment may then be charged twice; ' +
  `use ${STORE_URL_FORMS.slice(1).join(', ')}`;

/** Which engine a URL is of, and what is wrong with it. */
test.each<[url: string, engine: string | undefined, problem?: string | null]>([
  ['memory:', undefined],
  ['sqlite:payments.db', 'sqlite'],
  ['sqlite://payments.db', 'sqlite'],
  // A % in the name of a file is one.
  ['sqlite:/srv/100%/shop.db', 'sqlite'],
  ['sqlite:50%.db', 'sqlite'],
  ['postgres://host/shop', 'postgres'],
  ['postgresql://host/shop', 'postgres'],
  ['postgres://ada:50%25%20%C3%B6@host/shop', 'postgres'],
  ['mysql://host/shop', 'mysql'],
  ['mariadb://host/shop', 'mariadb'],
  ['sqlite:', 'sqlite', NO_STORE],
  ...['postgres:', 'postgres://', 'postgresq://host/shop', 'mysql:', 'mysql://', 'mysqli://host/shop', ''].map(
    (url): [string, undefined, string] => [url, undefined, NO_STORE],
  ),
  ...[
    'MySQL://host/db',
    'jdbc:mysql://host/db',
    'x-sqlite:x',
    'memory:x',
    'oracle://ada:geheim@host',
    'x-redis://h',
  ].map((url): [string, undefined, string] => [url, undefined, NO_STORE]),
  ...['redis://ada:geheim@host', 'rediss://host', 'REDIS://host', 'redis:'].map((url): [string, undefined, string] => [
    url,
    undefined,
    REDIS,
  ]),
])('%s is of %s: %s', (url, engine, problem = null) => {
  expect([engineOfUrl(url)?.name, storeUrlProblem(url)]).toEqual([engine, problem]);
});

test.each([
  ['postgres://ada:geheim@db.example:6432/shop?sslmode=require', 'host db.example, port 6432, database shop'],
  ['postgresql://ada:geheim@db.example/shop', 'host db.example, port 5432, database shop'],
  ['mysql://[::1]/shop', 'host [::1], port 3306, database shop'],
  ['mariadb://db.example', 'host db.example, port 3306'],
  ['postgres:///shop', 'host localhost, port 5432, database shop'],
  ['sqlite:shop.db', ''],
  ['memory:', ''],
  ['postgres://ada:geh/eim@db.example/shop', ''],
])('of %s the place is %j', (url, place) => {
  expect(shownPlace(url)).toBe(place);
});

/** Passwords with a % that begins no escape, or none of a text. */
const STRAY = ['50%', '100%zz', '%', '%4', 'a%ff', 'a%20%b'];

test.each(STRAY.flatMap((part) => [`ada:${part}`, `${part}:geheim`, `:${part}`]))(
  'a stray %% in %s@ is a problem that is named without being shown',
  (userInfo) => {
    for (const scheme of ['postgres', 'postgresql', 'mysql', 'mariadb']) {
      expect(storeUrlProblem(`${scheme}://${userInfo}@host/0`)).toBe(STRAY_PERCENT);
    }
  },
);

test('the forms are those of every store', () => {
  const sqlForms = SQL_ENGINES.map(({ urlForm }) => urlForm);
  expect(sqlForms).toEqual(expect.arrayContaining(['sqlite:FILE', 'postgres://…', 'mysql://…', 'mariadb://…']));
  expect(STORE_URL_FORMS).toEqual(['memory:', ...sqlForms]);
});

test.each(SECRET_URLS)('of %s is shown %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
  expect(shownPlace(url)).not.toMatch(/geheim|secret/i);
});

test.each(['memory:', 'sqlite:/srv/shop.db', 'sqlite::memory:', 'postgres://db.example:5432'])(
  '%s is shown as it is',
  (url) => {
    expect(shownUrl(url)).toBe(url);
  },
);

const FORM = 'in its user and password write / ? # @ : % as %2F %3F %23 %40 %3A %25';

test.each<[url: string, told: string | null]>([
  ...SECRET_URLS.map(([url]): [string, null] => [url, null]),
  ['mysql://ada:ge#heim@db.example:3306/shop', null],
  ['postgres://ada:ge/heim@db.example/shop', null],
  ['sqlite:', 'sqlite: needs a file: sqlite:payments.db'],
  ['sqlite://', 'sqlite: needs a file: sqlite:payments.db'],
  ['postgres://ada:geheim@', `a PostgreSQL URL looks like postgres://user:password@host:5432/database; ${FORM}`],
  ['mysql://ada:geheim@host', `a MySQL URL names a database: mysql://user:password@host:3306/database; ${FORM}`],
  ['oracle://ada:geheim@host', 'a SQL store is sqlite:FILE, postgres://…, mysql://… or mariadb://…'],
])('what is wrong with %s is told without showing it: %s', async (url, told) => {
  const said = await openSqlStore(url).then(String, (error: unknown) => (isShown(error) ? error.message : 'geheim'));
  expect(said).not.toMatch(/geheim|\bada\b|heim@/);
  if (told !== null) expect(said).toBe(told);
});

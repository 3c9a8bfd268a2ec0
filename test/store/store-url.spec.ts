import { SQL_ENGINES } from '../../lib/store/sql/engines.js';
import { openSqlStore } from '../../lib/store/sql/index.js';
import { isShown } from '../../lib/store/sql/errors.js';
import { shownPlace, shownUrl, STORE_URL_FORMS, storeUrlProblem } from '../../lib/store/store-url.js';
import { SECRET_URLS } from './secret-urls.js';

const NO_STORE = `must be ${STORE_URL_FORMS.join(', ')}`;
const STRAY_PERCENT = 'must have each % in its user and password written as %25';
const REDIS =
  'must not be Redis: a fail-over of Redis may lose an acknowledged write, and a payment may then be charged twice; ' +
  `use ${STORE_URL_FORMS.slice(1).join(', ')}`;

test.each([
  ['memory:', null],
  ['sqlite:payments.db', null],
  // A % in the name of a file is one.
  ['sqlite:/srv/100%/shop.db', null],
  ['sqlite:50%.db', null],
  ['postgres://host/shop', null],
  ['postgresql://host/shop', null],
  ['postgres://ada:50%25%20%C3%B6@host/shop', null],
  ['mysql://host/shop', null],
  ['mariadb://host/shop', null],
  ['sqlite:', NO_STORE],
  ['postgres://', NO_STORE],
  ['memory:x', NO_STORE],
  ['mysql://', NO_STORE],
  ['mysqli://host/shop', NO_STORE],
  ['oracle://ada:geheim@host/shop', NO_STORE],
  ['x-redis://host', NO_STORE],
  ['', NO_STORE],
  ['redis://ada:geheim@host', REDIS],
  ['rediss://host', REDIS],
  ['REDIS://host', REDIS],
  ['redis:', REDIS],
])('%s: %s', (url, problem) => {
  expect(storeUrlProblem(url)).toBe(problem);
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

test.each([
  ...SECRET_URLS.map(([url]) => url),
  'mysql://ada:ge#heim@db.example:3306/shop',
  'postgres://ada:ge/heim@db.example/shop',
])('what is wrong with %s is told without showing it', async (url) => {
  const said = await openSqlStore(url).then(String, (error: unknown) => (isShown(error) ? error.message : 'geheim'));
  expect(said).not.toMatch(/geheim|\bada\b|heim@/);
});

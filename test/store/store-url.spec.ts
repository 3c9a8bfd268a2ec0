import { SQL_ENGINES } from '../../lib/store/sql/engines.js';
import { STORE_URL_FORMS, storeKindOf } from '../../lib/store/store-url.js';

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
  ['mysql://host/shop', null],
  ['', null],
])('%s', (url, kind) => {
  expect(storeKindOf(url)).toBe(kind);
});

test('the forms are those of every store', () => {
  const sqlForms = SQL_ENGINES.map(({ urlForm }) => urlForm);
  expect(sqlForms).toEqual(expect.arrayContaining(['sqlite:FILE', 'postgres://…']));
  expect(STORE_URL_FORMS).toEqual(['memory:', ...sqlForms, 'redis://…']);
});

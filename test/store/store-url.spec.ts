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

test('the forms are shown as they are to be written', () => {
  expect(STORE_URL_FORMS).toEqual(['memory:', 'sqlite:FILE', 'postgres://…', 'redis://…']);
});

import assert from 'node:assert/strict';
import { types } from 'node:util';

/**
 * Asserts that two values are deeply equal. Test runners run tests in a realm of their own, whose `Array` is not the
 * one a driver made its rows with: that difference does not count.
 */
export function same(actual: unknown, expected: unknown): void {
  assert.deepEqual(ofThisRealm(actual), ofThisRealm(expected));
}

function ofThisRealm(value: unknown): unknown {
  if (types.isDate(value)) return new Date(value.getTime());
  if (Array.isArray(value)) return Array.from(value, ofThisRealm);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, ofThisRealm(of)]));
}

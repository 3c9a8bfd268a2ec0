import assert from 'node:assert/strict';
import { types } from 'node:util';

/**
 * Asserts that two values are deeply the same. Test runners run tests in a world of their own, whose Array is not that in which a driver made
 * its rows: that difference is not looked at.
 */
export function same(actual: unknown, expected: unknown): void {
  assert.deepEqual(ofThisWorld(actual), ofThisWorld(expected));
}

function ofThisWorld(value: unknown): unknown {
  if (types.isDate(value)) return new Date(value.getTime());
  if (Array.isArray(value)) return Array.from(value, ofThisWorld);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, ofThisWorld(of)]));
}

import { IsNested, IsRequired, MayBeAbsent } from '../../../lib/dto/rules/rule.js';
import { IsText } from '../../../lib/dto/rules/value.rules.js';
import { brokenRules } from './broken-rules.js';

it('a required field is neither absent nor null', () => {
  for (const value of [undefined, null]) expect(brokenRules(value, [IsRequired()])).toEqual(['isDefined']);
  for (const value of ['', 0, false]) expect(brokenRules(value, [IsRequired()])).toEqual([]);
});

it('an optional field may be absent, but not null', () => {
  expect(brokenRules(undefined, [IsText(), MayBeAbsent()])).toEqual([]);
  expect(brokenRules(null, [IsText(), MayBeAbsent()])).toEqual(['text']);
});

it('a nested field is an object, never an array', () => {
  class Part {}
  const rules = [IsNested(() => Part), IsRequired()];
  for (const value of ['x', 7, []]) expect(brokenRules(value, rules)).toContain('isObject');
});

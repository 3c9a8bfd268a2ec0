import { DEFAULT_CODE_SETS } from '../../../lib/gateway/dialects/default-code-sets.js';
import type { GatewayResult, AmountCheck, ResultCodeSets } from '../../../lib/gateway/gateway-dialect.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import {
  codeMeaning,
  codeMeanings,
  contradictionOf,
  type Expectation,
  isForeign,
  namesPayment,
} from '../../../lib/gateway/readings/result-checks.js';

describe('what a code means', () => {
  it.each([
    ['B0000', 'approved'],
    ['B0010', 'variant'],
    ['B0051', 'declined'],
    ['B0096', 'indeterminate'],
    ['RVV0000999999', 'declined'],
    ['RVV', 'declined'],
    ['rvv0000999999', 'unrecognised'],
    ['B0RVV', 'unrecognised'],
    ['b0000', 'unrecognised'],
    ['', 'unrecognised'],
    ['constructor', 'unrecognised'],
    ['__proto__', 'unrecognised'],
  ])('%j: %s', (code, meaning) => {
    expect(codeMeaning(code, DEFAULT_CODE_SETS)).toBe(meaning);
  });

  it('is the least certain where sets of a host overlap, but for an approval', () => {
    const all = new Set(['RVV1']);
    const sets = { ...DEFAULT_CODE_SETS, declinedCodes: all, indeterminateCodes: all };
    expect(codeMeaning('RVV1', sets)).toBe('indeterminate');
    expect(codeMeaning('RVV1', { ...sets, approvalVariantCodes: all })).toBe('variant');
    expect(codeMeaning('RVV1', { ...sets, approvedCodes: all } satisfies ResultCodeSets)).toBe('approved');
  });

  it('follows from prefixes that a host gives, too', () => {
    const sets = { ...DEFAULT_CODE_SETS, declinedPrefixes: ['VAL', 'B99'] };
    expect(['VAL1', 'B9912', 'RVV1', 'B9999'].map((code) => codeMeaning(code, sets))).toEqual([
      'declined',
      'declined',
      'unrecognised',
      'indeterminate',
    ]);
  });
});

describe('what a dialect found but could not read', () => {
  const result = (over: Partial<GatewayResult>): GatewayResult =>
    ({ code: 'B0000', resultCode: null, conversationId: null, ...over }) as GatewayResult;

  it('makes a code unclear', () => {
    expect(codeMeanings(result({}), DEFAULT_CODE_SETS)).toEqual(['approved']);
    expect(codeMeanings(result({ unreadable: ['currency'] }), DEFAULT_CODE_SETS)).toEqual(['approved']);
    for (const field of ['code', 'resultCode'] as const) {
      const meanings = codeMeanings(result({ unreadable: [field] }), DEFAULT_CODE_SETS);
      expect(meanings).toEqual(['approved', 'indeterminate']);
    }
  });

  it('makes an answer foreign that does not clearly name our payment', () => {
    expect(isForeign(result({}), 'ABC1')).toBe(false);
    expect(isForeign(result({ conversationId: 'ABC1' }), 'ABC1')).toBe(false);
    expect(isForeign(result({ conversationId: 'ABC2' }), 'ABC1')).toBe(true);
    expect(isForeign(result({ unreadable: ['conversationId'] }), 'ABC1')).toBe(true);
    expect(isForeign({} as GatewayResult, 'ABC1')).toBe(false);
  });

  it('makes an amount that is no decimal one that contradicts ours, whatever more an instalment may cost', () => {
    const fields = ReplyFields.parse('{}')!;
    const expected = { conversationId: 'ABC1', amount: '60.00', currencyCode: 949, installmentCount: 3 };
    const rules = { codes: DEFAULT_CODE_SETS, verifyAmount: 'notLess', isSignGood: null } as const;
    const contradiction = (amount: string) =>
      contradictionOf(fields, result({ currency: null, amount }), expected, rules);
    expect(contradiction('61.50')).toBeNull();
    expect(['60,00', '6e1', 'sixty'].map(contradiction)).toEqual(Array(3).fill('amount_mismatch'));
  });
});

describe('whether an inquiry’s approval shows our id or our amount', () => {
  const once = { conversationId: 'ABC1', amount: '60.00', currencyCode: 949, installmentCount: 1 };
  const instalments = { ...once, installmentCount: 3 };

  it.each<[string, Partial<GatewayResult>, AmountCheck, Expectation, boolean]>([
    ['our id', { conversationId: 'ABC1', amount: null }, 'exact', once, true],
    ['our id and another amount', { conversationId: 'ABC1', amount: '1' }, 'exact', once, true],
    ['our amount', { amount: '60' }, 'exact', once, true],
    ['another amount', { amount: '61.50' }, 'exact', once, false],
    ['neither', { amount: null }, 'exact', once, false],
    ['neither, by a dialect that leaves them out', {}, 'exact', once, false],
    ['what instalments may cost', { amount: '61.50' }, 'notLess', instalments, true],
    ['what instalments may cost, where amounts do not matter', { amount: '61.50' }, 'off', instalments, false],
    ['our amount, where amounts do not matter', { amount: '60.00' }, 'off', once, true],
    ['another amount, where amounts do not matter', { amount: '1' }, 'off', once, false],
    ['neither, where amounts do not matter', { amount: null }, 'off', once, false],
  ])('%s', (_what, shown, check, expected, names) => {
    const result = { code: 'B0000', conversationId: null, ...shown } as GatewayResult;
    expect(namesPayment(result, expected, check)).toBe(names);
  });
});

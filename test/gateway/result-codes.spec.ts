import { readFileSync } from 'node:fs';
import { codeMeaning, DEFAULT_CODE_SETS, RESULT_TEXTS, type ResultCodeSets } from '../../lib/gateway/result-codes.js';

/** The vendor's public list, copied. */
const LIST = readFileSync('test/gateway/result-codes.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'));
const CODES = LIST.map(([code]) => code ?? '');

const VARIANTS = ['B0008', 'B0010', 'B0011', 'B0016', 'B0032', 'B0085', 'B0087'];
const INDETERMINATE = ['B0006', 'B0020', 'B0022', 'B0068', 'B0091', 'B0095', 'B0096', 'B0098', 'B9999'];

describe('the result codes', () => {
  it('are those of the public list, with its texts', () => {
    expect(LIST).toHaveLength(89);
    expect(RESULT_TEXTS).toEqual(Object.fromEntries(LIST.map(([code, en, tr]) => [code, { en, tr }])));
  });

  it('that approve: B0000 alone', () => {
    expect([...DEFAULT_CODE_SETS.approvedCodes]).toEqual(['B0000']);
  });

  it('that approve only in part or on a condition', () => {
    expect([...DEFAULT_CODE_SETS.approvalVariantCodes].sort()).toEqual(VARIANTS);
  });

  it('that do not say whether money moved', () => {
    expect([...DEFAULT_CODE_SETS.indeterminateCodes].sort()).toEqual(INDETERMINATE);
  });

  it('that decline: all others', () => {
    const others = CODES.filter((code) => !['B0000', ...VARIANTS, ...INDETERMINATE].includes(code));
    expect([...DEFAULT_CODE_SETS.declinedCodes].sort()).toEqual(others.sort());
  });

  it('that decline in an inquiry speak of the card, and decline a payment too', () => {
    for (const code of DEFAULT_CODE_SETS.inquiryDeclinedCodes) {
      expect(DEFAULT_CODE_SETS.declinedCodes).toContain(code);
    }
    // These speak of the request, the merchant, the terminal, the record or the system.
    for (const code of ['B0003', 'B0012', 'B0013', 'B0025', 'B0028', 'B0029', 'B0030', 'B0031', 'B0058', 'B0064']) {
      expect(DEFAULT_CODE_SETS.inquiryDeclinedCodes).not.toContain(code);
    }
    for (const code of ['B0076', 'B0077', 'B0080', 'B0084', 'B0088', 'B0090', 'B0092', 'B0093', 'B0100', 'B0101']) {
      expect(DEFAULT_CODE_SETS.inquiryDeclinedCodes).not.toContain(code);
    }
    expect(DEFAULT_CODE_SETS.inquiryDeclinedCodes).toContain('B0051');
    expect(DEFAULT_CODE_SETS.inquiryDeclinedCodes).toContain('B0005');
    expect([...DEFAULT_CODE_SETS.inquiryDeclinedCodes].some((code) => code.startsWith('RVV'))).toBe(false);
  });

  it('that say "not found": none, since which does is not public', () => {
    expect(DEFAULT_CODE_SETS.notFoundCodes.size).toBe(0);
  });

  it('each mean one thing', () => {
    const sets: ReadonlySet<string>[] = [
      DEFAULT_CODE_SETS.approvedCodes,
      DEFAULT_CODE_SETS.approvalVariantCodes,
      DEFAULT_CODE_SETS.indeterminateCodes,
      DEFAULT_CODE_SETS.declinedCodes,
    ];
    for (const code of CODES) expect(sets.filter((set) => set.has(code))).toHaveLength(1);
  });
});

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
});

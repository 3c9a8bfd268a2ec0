import { DEFAULT_CODE_SETS } from '../../../lib/gateway/result-codes.js';
import { APPROVAL_VARIANTS, CARD_DECLINES, DECLINES, INDETERMINATE, PUBLIC_CODES } from '../public-codes.js';

const CODES = PUBLIC_CODES.map(([code]) => code ?? '');

describe('the result codes', () => {
  it('that approve: B0000 alone', () => {
    expect([...DEFAULT_CODE_SETS.approvedCodes]).toEqual(['B0000']);
  });

  it('that approve only in part or on a condition', () => {
    expect([...DEFAULT_CODE_SETS.approvalVariantCodes].sort()).toEqual(APPROVAL_VARIANTS);
  });

  it('that do not say whether money moved', () => {
    expect([...DEFAULT_CODE_SETS.indeterminateCodes].sort()).toEqual(INDETERMINATE);
  });

  it('that decline', () => {
    expect([...DEFAULT_CODE_SETS.declinedCodes].sort()).toEqual(DECLINES);
  });

  it('that decline in an inquiry speak of the card, and decline a payment too', () => {
    expect([...DEFAULT_CODE_SETS.inquiryDeclinedCodes].sort()).toEqual(CARD_DECLINES);
    for (const code of DEFAULT_CODE_SETS.inquiryDeclinedCodes) {
      expect(DEFAULT_CODE_SETS.declinedCodes).toContain(code);
    }
    // These are about the request, the merchant, the terminal, the record or the system.
    for (const code of ['B0003', 'B0012', 'B0013', 'B0025', 'B0028', 'B0029', 'B0030', 'B0031', 'B0058', 'B0064']) {
      expect(DEFAULT_CODE_SETS.inquiryDeclinedCodes).not.toContain(code);
    }
    for (const code of ['B0076', 'B0077', 'B0080', 'B0084', 'B0088', 'B0090', 'B0092', 'B0093', 'B0100', 'B0101']) {
      expect(DEFAULT_CODE_SETS.inquiryDeclinedCodes).not.toContain(code);
    }
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

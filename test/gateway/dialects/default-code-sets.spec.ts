import { DEFAULT_CODE_SETS } from '../../../lib/gateway/result-codes.js';
import { APPROVAL_VARIANTS, CARD_DECLINES, DECLINES, INDETERMINATE, PUBLIC_CODES } from '../public-codes.js';

test.each<[keyof typeof DEFAULT_CODE_SETS, readonly string[]]>([
  ['approvedCodes', ['B0000']],
  ['refundApprovedCodes', ['00', 'B0000']],
  ['approvalVariantCodes', APPROVAL_VARIANTS],
  ['indeterminateCodes', INDETERMINATE],
  ['declinedCodes', DECLINES],
  // About the card: not about the request, the merchant, the terminal, the record or the system.
  ['inquiryDeclinedCodes', CARD_DECLINES],
  ['inquiryUnpaidCodes', ['B0017', 'B0025', 'B0029']],
  // Which code says "not found" is not public.
  ['notFoundCodes', []],
  ['declinedPrefixes', ['RVV']],
])('%s', (name, codes) => {
  expect([...DEFAULT_CODE_SETS[name]!].sort()).toEqual(codes);
});

test('each code means one thing, and a decline in an inquiry is one of a payment, too', () => {
  const { approvedCodes, approvalVariantCodes, indeterminateCodes, declinedCodes } = DEFAULT_CODE_SETS;
  const sets = [approvedCodes, approvalVariantCodes, indeterminateCodes, declinedCodes];
  for (const [code = ''] of PUBLIC_CODES) expect(sets.filter((set) => set.has(code))).toHaveLength(1);
  expect(CARD_DECLINES.filter((code) => !declinedCodes.has(code))).toEqual([]);
});

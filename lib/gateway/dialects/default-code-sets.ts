import { RESULT_CODES, type ResultCodeRow, VALIDATION_PREFIX } from '../result-code-table.js';
import type { ResultCodeSets } from '../gateway-dialect.js';

const approvedCodes = codesWith('approved');
const approvalVariantCodes = codesWith('checking');
const indeterminateCodes = codesWith('pending');

/**
 * What the result codes mean in both built-in dialects. docs/interface.md shows `B0000` only; the others are
 * unverified: inferred from the vendor's public list and from ISO 8583, the scheme it follows. `notFoundCodes` is
 * empty, because no public source names that code. `approvedTexts` are `Approved`, which the vendor's plugins look for
 * in an inquiry, and `Onaylandı`, which its documentation shows for an approval.
 */
export const DEFAULT_CODE_SETS: ResultCodeSets = {
  approvedCodes,
  // The vendor's public sample of a refund's answer shows `00`.
  refundApprovedCodes: new Set([...approvedCodes, '00']),
  approvalVariantCodes,
  indeterminateCodes,
  declinedCodes: new Set(
    Object.keys(RESULT_CODES).filter(
      (code) => !approvedCodes.has(code) && !approvalVariantCodes.has(code) && !indeterminateCodes.has(code),
    ),
  ),
  declinedPrefixes: [VALIDATION_PREFIX],
  // prettier-ignore
  inquiryDeclinedCodes: new Set([
    'B0001', 'B0002', 'B0004', 'B0005', 'B0007', 'B0014', 'B0015', 'B0033', 'B0034', 'B0035',
    'B0036', 'B0037', 'B0038', 'B0039', 'B0041', 'B0042', 'B0043', 'B0044', 'B0051', 'B0052',
    'B0053', 'B0054', 'B0055', 'B0056', 'B0057', 'B0059', 'B0060', 'B0061', 'B0062', 'B0063',
    'B0065', 'B0066', 'B0067', 'B0070', 'B0075', 'B0078', 'B0081', 'B0082', 'B0083',
  ]),
  notFoundCodes: new Set(),
  // The customer cancelled; the record, or the transaction that this one belongs to, was not found.
  inquiryUnpaidCodes: new Set(['B0017', 'B0025', 'B0029']),
  approvedTexts: new Set(['Approved', 'Onaylandı']),
};

/** The codes of which the buyer is told the same. */
function codesWith(advice: ResultCodeRow[0]): ReadonlySet<string> {
  const rows: readonly (readonly [string, ResultCodeRow])[] = Object.entries(RESULT_CODES);
  return new Set(rows.filter(([, [each]]) => each === advice).map(([code]) => code));
}

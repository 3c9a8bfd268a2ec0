import { isMoneyTaken } from '../../lib/payment/refund.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

/** What may be given back of a payment that a person has to look at. */
it.each([
  ['conversation_mismatch', '10.00', false],
  ['currency_mismatch', '10.00', false],
  ['amount_mismatch', '9.00', true],
  ['amount_mismatch', null, false],
] as const)(
  'of a payment in review by %s, with %s charged, money was taken for certain: %s',
  (reason, charged, taken) => {
    expect(isMoneyTaken(aPaymentRecord({ state: 'review', reason, chargedAmount: charged }))).toBe(taken);
  },
);

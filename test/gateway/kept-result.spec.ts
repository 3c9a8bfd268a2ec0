import { DEFAULT_CODE_SETS } from '../../lib/gateway/result-codes.js';
import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import { keptResult } from '../../lib/gateway/kept-result.js';
import { Masker } from '../../lib/payment/kept-text.js';
import { NO_RESULT } from './no-result.js';

const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
const HOLDER = { cardHolderName: 'Ada Lovelace', buyerGsm: '+905321234567' };
const masker = new Masker(['a-client-secret', 'an api key'], { cardDetails: CARD, cardHolderInfo: HOLDER });
const IDS = ['orderId', 'paymentId', 'bankUniqueReferenceNumber', 'authCode'] as const;
type Name = Exclude<keyof GatewayResult, 'unreadable'>;

function kept(name: Name, value: unknown): unknown {
  return keptResult({ ...NO_RESULT, [name]: value }, masker, DEFAULT_CODE_SETS)[name];
}

it('what an answer says is kept, but for its own mask of the card', () => {
  const said: GatewayResult = {
    code: 'B0000',
    resultCode: 'B0000',
    message: 'Onaylandı, B0000',
    conversationId: 'another payment',
    amount: '149.900',
    currency: '949',
    orderId: '99000000000000000000000000000000000001',
    paymentId: 'p-1',
    bankUniqueReferenceNumber: '503615446559',
    authCode: '004512',
    transactionDate: '05/02/2025 15:09:09',
    maskedCardNumber: '524677******3508',
    commissionRate: '1.5000',
    commissionAmount: '-2.2485',
  };
  const given = { ...said, unreadable: ['amount'] as const };
  expect(keptResult(given, masker, DEFAULT_CODE_SETS)).toEqual({ ...said, maskedCardNumber: null });
  expect(keptResult(NO_RESULT, masker, DEFAULT_CODE_SETS)).toEqual(NO_RESULT);
});

describe('a value', () => {
  const DATES = ['05/02/2025 15:09:09', '05.02.2025', '2025-02-05T15:09:09.123Z', '2025-02-05 15:09:09+03:00'];

  it.each<[Name, string[]]>([
    ['code', ['B0000', 'RVV0000999999', '00', 'E-17_b.2', 'B0792', 'X']],
    ['amount', ['60', '149.90', '0.01', '792.00', '123456789012345']],
    ['commissionRate', ['1.5000', '-0.25']],
    ['transactionDate', [...DATES, '2/5/2025 3:09:09 PM', '20250205150909', '20250205']],
  ])('that has the form of its field is kept: %s', (name, values) => {
    for (const value of values) expect(kept(name, value)).toBe(value);
  });

  it.each<[Name, unknown[]]>([
    [
      'code',
      [
        '',
        ' B0000',
        'B0000\n',
        'b'.repeat(21),
        'Ödeme',
        '<b>',
        'B 00',
        CARD.cardNo,
        '5246-7763.5690_3508',
        '1234-567',
        '792',
        '1230',
        'ADA',
        5,
      ],
    ],
    ['amount', ['1e3', '60,00', '+60', '60.', '.60', '1'.repeat(16), CARD.cardNo, HOLDER.buyerGsm, '60.00 TRY', 60]],
    ['commissionAmount', ['--1', '1%', 'x', {}, '411111111.1111111', '905551112.233']],
    ['transactionDate', ['yesterday', CARD.cardNo, '52.46.2063 03:08', '05.02.2025 25:10', '20467763', '20251305', 5]],
    ['maskedCardNumber', ['524677******3508', CARD.cardNo]],
  ])('that has not is not kept: %s', (name, values) => {
    for (const value of values) expect([value, kept(name, value)]).toEqual([value, null]);
  });

  it('is kept, though it is the security code by chance, where it has a form of its own', () => {
    expect(kept('amount', '792')).toBe('792');
    expect(
      keptResult({ ...NO_RESULT, code: '792' }, masker, { ...DEFAULT_CODE_SETS, declinedCodes: new Set(['792']) }).code,
    ).toBe('792');
  });
});

describe('what the request carried', () => {
  it.each<[string, string]>([
    ['card number', CARD.cardNo],
    ['card number, spaced', '5246 7763 5690 3508'],
    ['card number, dashed', '5246-7763-5690-3508'],
    ['card number, between letters', `x${CARD.cardNo}y`],
    ['security code', CARD.cvv],
    ['expiry', CARD.expDate],
    ['name', HOLDER.cardHolderName],
    ['first name', 'Ada'],
    ['phone', HOLDER.buyerGsm],
    ['client secret', 'A-Client-Secret'],
    ['API key', 'an api key'],
  ])('is kept in no code, id, date or message: %s', (_what, secret) => {
    for (const name of ['code', ...IDS, 'transactionDate'] as const)
      expect([name, kept(name, secret)]).toEqual([name, null]);
    expect(kept('message', `No ${secret} refused`)).toMatch(/^No x?\*{3}(?: \*{3}|y)? refused$/);
  });
});

it('a dialect in plain JavaScript may leave everything out', () => {
  const empty = keptResult({} as GatewayResult, masker, {} as never);
  expect(empty).toEqual({ ...NO_RESULT, conversationId: undefined, currency: undefined });
});

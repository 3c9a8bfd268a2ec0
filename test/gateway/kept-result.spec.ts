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

function kept(name: Name, value: unknown, sets = DEFAULT_CODE_SETS): unknown {
  return keptResult({ ...NO_RESULT, [name]: value }, masker, sets)[name];
}

it('what an answer says is kept', () => {
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
    commissionRate: '1.5000',
    commissionAmount: '-2.2485',
  };
  expect(keptResult({ ...said, unreadable: ['amount'] }, masker, DEFAULT_CODE_SETS)).toEqual(said);
  // A dialect in plain JavaScript may leave everything out.
  const empty = keptResult({} as GatewayResult, masker, {} as never);
  expect(empty).toEqual({ ...NO_RESULT, conversationId: undefined, currency: undefined });
});

const DATES = ['05/02/2025 15:09:09', '05.02.2025', '2025-02-05T15:09:09.123Z', '2025-02-05 15:09:09+03:00'];
const ODD_CODES = ['', ' B0000', 'B0000\n', 'b'.repeat(21), 'Ödeme', '<b>', 'B 00', '5246-7763.5690_3508', '1234-567'];

it.each<[Name, isKept: boolean, values: unknown[]]>([
  ['code', true, ['B0000', 'RVV0000999999', '00', 'E-17_b.2', 'B0792', 'X']],
  ['code', false, [...ODD_CODES, CARD.cardNo, CARD.cvv, CARD.expDate, 'ADA', 5]],
  // By chance, it may be the security code.
  ['amount', true, ['60', '149.90', '0.01', '792.00', '792', '123456789012345']],
  ['amount', false, ['1e3', '60,00', '+60', '60.', '.60', '1'.repeat(16), CARD.cardNo, HOLDER.buyerGsm, '60 TRY', 60]],
  ['commissionRate', true, ['1.5000', '-0.25']],
  ['commissionAmount', false, ['--1', '1%', 'x', {}, '411111111.1111111', '905551112.233']],
  ['transactionDate', true, [...DATES, '2/5/2025 3:09:09 PM', '20250205150909', '20250205']],
  [
    'transactionDate',
    false,
    ['yesterday', CARD.cardNo, '52.46.2063 03:08', '05.02.2025 25:10', '05.02.1825', '20467763', '20251305', 5],
  ],
])('%s, kept: %s: %j', (name, isKept, values) => {
  for (const value of values) expect([value, kept(name, value)]).toEqual([value, isKept ? value : null]);
});

it('a code that is listed is kept, though it is the security code by chance', () => {
  expect(kept('code', '792', { ...DEFAULT_CODE_SETS, declinedCodes: new Set(['792']) })).toBe('792');
});

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
])('what the request carried is kept in no code, id, date or message: %s', (_what, secret) => {
  for (const name of ['code', ...IDS, 'transactionDate'] as const)
    expect([name, kept(name, secret)]).toEqual([name, null]);
  expect(kept('message', `No ${secret} refused`)).toMatch(/^No x?\*{3}(?: \*{3}|y)? refused$/);
});

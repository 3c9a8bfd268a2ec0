import type { GatewayResult } from '../../../lib/gateway/gateway-dialect.js';
import { resultChanges } from '../../../lib/flows/settling/result-changes.js';
import type { PaymentChange } from '../../../lib/payment/transitions.js';
import { cpuMs } from '../../rigs/cpu-time.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

const CARD = '4508034508034509';
const RULES = { dateOrder: 'dmy' } as const;
const NOTHING: GatewayResult = {
  code: null,
  resultCode: null,
  message: null,
  conversationId: null,
  amount: null,
  currency: null,
  orderId: null,
  paymentId: null,
  bankUniqueReferenceNumber: null,
  authCode: null,
  transactionDate: null,
  maskedCardNumber: null,
  commissionRate: null,
  commissionAmount: null,
};

function changesBy(result: Partial<GatewayResult>, over = {}) {
  return resultChanges({ ...NOTHING, ...result }, aPaymentRecord({ state: 'charging', ...over }), RULES);
}

describe('an answer of the gateway', () => {
  it('is stored as received', () => {
    expect(
      changesBy({
        code: 'B0000',
        resultCode: 'B0000',
        message: 'Onaylandı ✓',
        conversationId: 'not kept',
        amount: '149.900',
        currency: '949',
        orderId: '99000000000000000000000000000000000001',
        paymentId: 'p-1',
        bankUniqueReferenceNumber: '503615446559',
        authCode: '004512',
        transactionDate: '05/02/2025 15:09:09',
        maskedCardNumber: '450803******4509',
        commissionRate: '1.5000',
        commissionAmount: '2.2485',
      }),
    ).toEqual({
      code: 'B0000',
      message: 'Onaylandı ✓',
      chargedAmount: '149.900',
      orderId: '99000000000000000000000000000000000001',
      paymentId: 'p-1',
      bankUniqueReferenceNumber: '503615446559',
      authCode: '004512',
      transactionDate: '05/02/2025 15:09:09',
      transactionAt: new Date('2025-02-05T12:09:09Z'),
      commissionRate: '1.5000',
      commissionAmount: '2.2485',
      // It names another payment, so its ids and its amount may be that one's.
      isUnproven: true,
    });
  });

  it('changes nothing that it does not contain', () => {
    expect(changesBy({})).toEqual({});
  });

  it('changes nothing by values that are not strings', () => {
    const invalid = {
      orderId: 12,
      paymentId: undefined,
      message: {},
      amount: 60,
      maskedCardNumber: [],
      transactionDate: 5,
    };
    expect(changesBy(invalid as unknown as GatewayResult)).toEqual({});
  });

  it('clears the time of an earlier date if the new date cannot be parsed', () => {
    const transactionDate = '31/02/2025 15:09:09';
    expect(changesBy({ transactionDate })).toEqual({ transactionDate, transactionAt: null });
  });

  it.each(['450803******4509', '4508034508******', '**** 4509', CARD])(
    'does not replace the masked card number by the one of the gateway (%s)',
    (maskedCardNumber) => {
      expect(changesBy({ maskedCardNumber })).toEqual({});
    },
  );
});

describe('a code, id, amount or date', () => {
  it.each<[keyof GatewayResult, keyof PaymentChange, string[]]>([
    ['code', 'code', ['B0000', 'RVV0000999999', '00', 'E-17_b.2']],
    ['orderId', 'orderId', ['99000000000000000000000000000000000001', 'p-1', '5246776356903508', 'a.b:c/d_e-F']],
    ['paymentId', 'paymentId', ['550e8400-e29b-41d4-a716-446655440000', 'x'.repeat(128)]],
    ['bankUniqueReferenceNumber', 'bankUniqueReferenceNumber', ['503615446559']],
    ['authCode', 'authCode', ['004512', 'A1B2C3']],
    ['amount', 'chargedAmount', ['60', '149.90', '0.01', '999999999999999']],
    ['commissionRate', 'commissionRate', ['1.5000', '-0.25']],
    ['commissionAmount', 'commissionAmount', ['2.2485']],
    [
      'transactionDate',
      'transactionDate',
      [
        '05/02/2025 15:09:09',
        '05.02.2025',
        '2025-02-05T15:09:09.123Z',
        '2025-02-05 15:09:09+03:00',
        '2/5/2025 3:09:09 PM',
        '20250205150909',
        '20250205',
      ],
    ],
  ])('in a valid format is stored: %s', (field, name, texts) => {
    for (const text of texts) expect(changesBy({ [field]: text })).toMatchObject({ [name]: text });
  });

  it.each<[keyof GatewayResult, string[]]>([
    ['code', ['', ' B0000', 'B0000\n', 'B'.repeat(21), 'Ödeme', '<b>', 'B 00']],
    ['orderId', ['', 'a b', 'a=', 'x'.repeat(129), '-1', 'é', '１２３', 'a%20b', '{"a":1}', "a'b"]],
    ['paymentId', ['a\u0000', 'a,b']],
    ['bankUniqueReferenceNumber', ['a;b']],
    ['authCode', ['0'.repeat(17), 'a.b', 'a b']],
    ['amount', ['1e3', '60,00', '+60', '60.', '.60', '6 0', '1'.repeat(16), '0.123456789', '٦٠', '60.00 TRY']],
    ['commissionRate', ['1%', 'x']],
    ['commissionAmount', ['--1', '1'.repeat(2_000)]],
    [
      'transactionDate',
      [
        'yesterday',
        '5246776356903508',
        '5246/7763/5690',
        '45080345',
        '05/02/2025 15:09:09 for Ada',
        '52.46.7763 56:90',
        '52.46.2063 03:08',
        '05.02.7763',
        '05.02.2025 56:90',
        '05.02.2025 15:90',
        '',
      ],
    ],
  ])('in another format is not stored: %s', (field, texts) => {
    for (const text of texts) expect(changesBy({ [field]: text })).toEqual({});
  });
});

describe('a card number that the gateway echoes', () => {
  const IDENTIFIERS = ['code', 'orderId', 'paymentId', 'bankUniqueReferenceNumber', 'authCode', 'transactionDate'];
  const AMOUNTS = ['amount', 'commissionRate', 'commissionAmount'];

  it.each([
    ['plain', CARD],
    ['spaced', '4508 0345 0803 4509'],
    ['dashed', '4508-0345-0803-4509'],
    ['formatted as a date', '45/08/0345 08:03:45.09'],
    ['formatted as an amount', '450803450803.4509'],
    ['on two lines', '45080345\n08034509'],
    ['between letters', `x${CARD}y`],
    ['inside a number', `1${CARD}1`],
    ['reversed', [...CARD].reverse().join('')],
    ['in Base64', Buffer.from(CARD).toString('base64')],
    ['in Base64url', Buffer.from(CARD).toString('base64url')],
    ['in hex', Buffer.from(CARD).toString('hex')],
    ['in dashed hex', (Buffer.from(CARD).toString('hex').match(/../g) ?? []).join('-')],
  ])('%s is not stored as an id, amount or date, and is masked in the message', (_how, echoed) => {
    const fields = Object.fromEntries([...IDENTIFIERS, ...AMOUNTS].map((name) => [name, echoed]));
    const changes = changesBy({ ...fields, message: `No ${echoed} refused` });
    expect(Object.keys(changes)).toEqual(['message']);
    expect(changes.message).toMatch(/^No .*\*\*\*.* refused$/);
    expect(changes.message).not.toMatch(/[0-8].*[0-8]/);
  });

  it('from another payment is masked in the message, but kept as an order id, which it may be', () => {
    expect(changesBy({ message: 'see 5246776356903508', orderId: '5246776356903508' })).toEqual({
      message: 'see ***',
      orderId: '5246776356903508',
    });
  });

  it('is recognised even after the gateway has sent a differently masked number', () => {
    const before = aPaymentRecord({ state: 'charging' });
    const first = resultChanges({ ...NOTHING, maskedCardNumber: '4508034508******' }, before, RULES);
    const after = { ...before, ...first };
    expect(after.maskedCardNumber).toBe('450803******4509');
    expect(resultChanges({ ...NOTHING, orderId: CARD, message: `${CARD}!` }, after, RULES)).toEqual({
      message: '***!',
    });
  });
});

describe('a very large answer', () => {
  it('is stored only up to a limit', () => {
    const changes = changesBy({ message: 'ö'.repeat(2_000), orderId: 'x'.repeat(2_000) });
    expect(changes.message).toHaveLength(500);
    expect(changes).not.toHaveProperty('orderId');
  });

  it.each(['4 ', '4', 'aA1', '%34', '1/'])('does not block the process: a mebibyte of %p in each field', (part) => {
    const text = part.repeat(1_048_576 / part.length);
    const large = Object.fromEntries(Object.keys(NOTHING).map((name) => [name, text]));
    const times = [1, 2, 3].map(() => {
      const start = cpuMs();
      expect(Object.keys(changesBy(large))).toEqual(['message']);
      return cpuMs() - start;
    });
    expect(Math.min(...times)).toBeLessThan(100);
  });
});

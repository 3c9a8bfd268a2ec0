import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import { resultChanges } from '../../lib/flows/result-changes.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

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

function told(result: Partial<GatewayResult>, over = {}) {
  return resultChanges({ ...NOTHING, ...result }, aPaymentRecord({ state: 'charging', ...over }), RULES);
}

describe('what an answer tells of a payment', () => {
  it('is kept as received', () => {
    expect(
      told({
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
      maskedCardNumber: '450803******4509',
      commissionRate: '1.5000',
      commissionAmount: '2.2485',
    });
  });

  it('leaves alone what it does not tell', () => {
    expect(told({})).toEqual({});
  });

  it('leaves alone what a dialect gave as anything but text', () => {
    const odd = {
      orderId: 12,
      paymentId: undefined,
      message: {},
      amount: 60,
      maskedCardNumber: [],
      transactionDate: 5,
    };
    expect(told(odd as unknown as GatewayResult)).toEqual({});
  });

  it('does not keep the time of an earlier date beside a date that cannot be read', () => {
    expect(told({ transactionDate: 'yesterday' })).toEqual({ transactionDate: 'yesterday', transactionAt: null });
  });

  it.each([
    ['plain', CARD],
    ['spaced', '4508 0345 0803 4509'],
    ['over two lines', '45080345\n08034509'],
    ['between letters', `x${CARD}y`],
  ])('masks a card number that is echoed %s', (_how, echoed) => {
    const changes = told({ message: `No ${echoed} refused`, orderId: echoed, code: echoed, authCode: echoed });
    expect(JSON.stringify(changes).replace(/\D/g, '')).not.toContain('4508034508034');
    expect(changes.message).toMatch(/^No .?4508 ?03\*/);
  });

  it('masks a card number in a message even where the payment has another', () => {
    expect(told({ message: 'see 5246776356903508' }).message).toBe('see 524677******3508');
  });

  it('leaves an identifier that merely looks like a card number', () => {
    expect(told({ orderId: '5246776356903508' }).orderId).toBe('5246776356903508');
  });

  it.each([480, 486, 487, 490, 493, 496, 499])('masks before it cuts: a card number at %d of a message', (at) => {
    const message = told({ message: `${'x'.repeat(at)}${CARD}` }, { maskedCardNumber: null }).message;
    expect(message).toBe(`${'x'.repeat(at)}450803******4509`.slice(0, 500));
  });

  it.each([240, 245, 250])('masks before it cuts: a card number at %d of an identifier', (at) => {
    expect(told({ orderId: `${'x'.repeat(at)}${CARD}` }).orderId).toBe(
      `${'x'.repeat(at)}450803******4509`.slice(0, 255),
    );
  });

  it.each([
    [CARD, '450803******4509'],
    ['4508 0345 0803 4509', '4508 03** **** 4509'],
    ['450803******4509', '450803******4509'],
    ['45080345****4509', '450803******4509'],
    ['450803XXXXXX4509', '450803XXXXXX4509'],
    ['**** 4509', '**** 4509'],
    [`${CARD} ${CARD}`, '450803********** ************4509'],
  ])('keeps of the "masked" number %s six and four digits at most', (given, kept) => {
    expect(told({ maskedCardNumber: given }).maskedCardNumber).toBe(kept);
  });

  it('bounds what it keeps', () => {
    const changes = told({
      message: 'ö'.repeat(2_000),
      orderId: 'x'.repeat(2_000),
      maskedCardNumber: '*'.repeat(2_000),
    });
    expect(changes.message).toHaveLength(500);
    expect(changes.orderId).toHaveLength(255);
    expect(changes.maskedCardNumber).toHaveLength(255);
  });

  it('is quick about a message of a mebibyte', () => {
    const message = '4 '.repeat(500_000);
    expect(told({ message, orderId: message }).message).toHaveLength(500);
  });
});

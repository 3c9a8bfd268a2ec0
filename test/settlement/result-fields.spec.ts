import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import { resultChanges } from '../../lib/settlement/result-fields.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { NO_RESULT } from '../gateway/no-result.js';

const CARD = '4508034508034509';
const RULES = { dateOrder: 'dmy' } as const;

function changesBy(result: Partial<GatewayResult>, over = {}) {
  return resultChanges({ ...NO_RESULT, ...result }, aPaymentRecord({ state: 'charging', ...over }), RULES);
}

describe('an answer of the gateway', () => {
  it('is stored as received', () => {
    expect(
      changesBy({
        code: 'B0000',
        resultCode: 'B0000',
        message: 'Onaylandı',
        conversationId: 'not kept',
        amount: '149.900',
        currency: '949',
        orderId: '99000000000000000000000000000000000001',
        paymentId: 'p-1',
        bankUniqueReferenceNumber: '503615446559',
        authCode: '004512',
        transactionDate: '05/02/2025 15:09:09',
        commissionRate: '1.5000',
        commissionAmount: '2.2485',
      }),
    ).toEqual({
      code: 'B0000',
      message: 'Onaylandı',
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

  it('clears the time of an earlier date if the new date cannot be parsed', () => {
    const transactionDate = '31/02/2025 15:09:09';
    expect(changesBy({ transactionDate })).toEqual({ transactionDate, transactionAt: null });
  });
});

describe('an answer that names the payment, after one that may have been about another', () => {
  const { conversationId } = aPaymentRecord();
  const EARLIER = { chargedAmount: null, orderId: 'o-other', paymentId: 'p-other', isUnproven: true };
  const ALL = { amount: '149.90', orderId: 'o-1', paymentId: 'p-1' };

  it.each<[what: string, shown: Partial<GatewayResult>, over: object, isUnproven: boolean | undefined]>([
    ['all', ALL, {}, false],
    ['nothing', {}, {}, undefined],
    ['its amount alone', { amount: '149.90' }, {}, true],
    ['one id', { orderId: 'o-1' }, {}, true],
    ['both ids, where no amount was kept', { ...ALL, amount: null }, {}, false],
    ['both ids, where an amount was kept', { ...ALL, amount: null }, { chargedAmount: '5.00' }, true],
    ['an amount that is not kept', { ...ALL, amount: '1234567890.00' }, { chargedAmount: '5.00' }, true],
    ['an id that is not kept', { ...ALL, orderId: CARD }, {}, true],
    ['its amount, where no id was kept', { amount: '149.90' }, { orderId: null, paymentId: null }, false],
  ])('shows %s', (_what, shown, over, isUnproven) => {
    for (const kind of ['direct', '3d', 'hosted'] as const) {
      const record = { state: 'unknown', kind, maskedCardNumber: '450803******4509', ...EARLIER, ...over } as const;
      expect(changesBy({ conversationId, ...shown }, record).isUnproven).toBe(isUnproven);
    }
  });
});

describe('a card number that the gateway echoes when the card is long gone', () => {
  const IDS = ['code', 'orderId', 'paymentId', 'bankUniqueReferenceNumber', 'authCode'] as const;

  it.each([CARD, `ORD-${CARD}`, '4508-0345.0803_4509', '450803004509', '4508030000000004509'])(
    '%s is not stored: its mask tells it',
    (echoed) => {
      expect(changesBy(Object.fromEntries(IDS.map((name) => [name, echoed])))).toEqual({});
    },
  );

  it.each(['5246776356903508', '45080304509', '45080300000000004509'])('%s may be an id', (orderId) => {
    expect(changesBy({ orderId })).toEqual({ orderId });
  });
});

describe('an amount', () => {
  it.each([
    ['99999999', null],
    ['149.900', null],
    ['5321234567', '5321234567.00'],
    ['378282246310005', '378282246310005'],
  ])('%s is stored when %s was asked for', (amount, asked) => {
    expect(changesBy({ amount }, asked === null ? {} : { amount: asked })).toEqual({ chargedAmount: amount });
  });

  it.each(['5321234567', '378282246310005', '1234567890.00', '999999999', '905551112.233'])(
    '%s is not, unless it was asked for',
    (amount) => {
      expect(changesBy({ amount })).toEqual({});
    },
  );
});

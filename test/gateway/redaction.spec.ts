import { redactResult } from '../../lib/gateway/redaction.js';
import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';

const card = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
const secrets = ['an-api-key/with+signs', 'SIGN=', ''];
const result = (told: Partial<GatewayResult>): GatewayResult => told as GatewayResult;

describe('what a gateway echoes', () => {
  it.each(['message', 'code', 'orderId', 'authCode', 'transactionDate', 'amount'] as const)(
    'is hidden in %s: card, code, expiry, key',
    (name) => {
      const told = result({ [name]: 'No 5246776356903508/792/1230 by an-api-key/with+signs, an-api-key/with+signs' });
      const hidden = { [name]: 'No 524677******3508/***/**** by ***, ***' };
      expect(redactResult(told, { secrets, card })).toEqual(hidden);
    },
  );

  it('leaves identifiers alone that merely hold such digits, and secrets too short to be told from others', () => {
    const told = result({ orderId: 'ORD-792-1230', authCode: '001230', paymentId: '5246776356903509 SIGN=' });
    expect(redactResult(told, { secrets, card })).toEqual(told);
  });

  it('hides the code and expiry in a message also without the card number', () => {
    const told = result({ message: 'cvv 792 and 12/30 are wrong, order 7921' });
    expect(redactResult(told, { secrets, card }).message).toBe('cvv *** and **/** are wrong, order 7921');
  });

  it('hides secrets where no card was sent', () => {
    const told = result({ message: '5246776356903508 an-api-key/with+signs', orderId: null });
    expect(redactResult(told, { secrets })).toEqual({ message: '5246776356903508 ***', orderId: null });
  });

  it('takes what is no text for nothing told', () => {
    expect(redactResult(result({ code: 5 as never }), { secrets })).toEqual({ code: null });
  });
});

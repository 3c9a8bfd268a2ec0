import fc from 'fast-check';
import { PaymentInit3dError, PaymentNotSentError, standardDialect } from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';
import { type Shop, startShop } from '../rigs/shop.js';
import {
  AMOUNT,
  type Answer,
  answersLike,
  FuzzedGateway,
  genuine,
  isWhole,
  objectIn,
  REPLIES,
  REPLIES_MS,
  tryAll,
  valuesIn,
} from './random-replies.js';

const PAGE = Buffer.from('<!doctype html><html><body>bank</body></html>').toString('base64');
const operation = fc.constantFrom('DoPayment', 'Init3d', 'Auth3d');

describe('random replies', () => {
  let gateway: FuzzedGateway;
  let shop: Shop;
  let count = 0;

  beforeAll(async () => {
    gateway = await FuzzedGateway.start(fieldsOf);
    shop = await startShop({
      options: {
        baseUrl: gateway.url,
        merchantId: 'merchant',
        clientId: 'client',
        clientSecret: 'secret',
        dialect: standardDialect({ signer: () => 'signed' }),
        background: false,
        timeoutMs: 20_000,
      },
    });
  });
  afterAll(async () => {
    await shop.app.close();
    gateway.close();
  });

  it(
    `${REPLIES} of them: no throw after sending, no success that is none`,
    async () => {
      await tryAll(fc.tuple(operation, answersLike(fieldsOf)), ([what, said]) => tryOne(what, said));
    },
    REPLIES_MS,
  );

  async function tryOne(what: string, said: Answer): Promise<void> {
    count += 1;
    const conversationId = `FUZZ${String(count).padStart(16, '0')}`;
    gateway.planned.set(conversationId, { operation: what, answer: said });
    const input = sale(AMOUNT, { conversationId });
    try {
      if (what === 'DoPayment') {
        const payment = await shop.payments.doPayment(input);
        expectNoWrongSuccess(payment.state, said, conversationId, { isNamed: false });
      } else {
        await shop.payments.init3d(input);
        if (what === 'Auth3d') {
          const payment = await shop.payments.auth3d({ conversationId, fields: { conversationId, Code: 'B0000' } });
          expectNoWrongSuccess(payment.state, said, conversationId, { isNamed: true });
        }
      }
    } catch (error) {
      const isAllowed =
        error instanceof PaymentNotSentError
          ? gateway.timesReceived(what, conversationId) === 0
          : what === 'Init3d' && error instanceof PaymentInit3dError;
      if (!isAllowed) throw error;
    } finally {
      expect(gateway.timesReceived(what, conversationId)).toBeLessThanOrEqual(1);
      gateway.planned.delete(conversationId);
    }
  }
});

/** Whether an approval has to name the payment. */
interface Wanted {
  readonly isNamed: boolean;
}

/** Reads the reply again, by other code than the module's: what it must contain if money was taken as asked. */
function expectNoWrongSuccess(state: string, said: Answer, conversationId: string, wanted: Wanted): void {
  const isRight =
    isWhole(said) &&
    said.status >= 200 &&
    said.status < 300 &&
    saysApproved(said.body(conversationId), conversationId, wanted);
  if (state === 'succeeded') expect({ ...said, isRight }).toMatchObject({ isRight: true });
  if (isWhole(said) && said.status === 200 && String(said.body(conversationId)) === genuine(fieldsOf, conversationId))
    expect(state).toBe('succeeded');
}

function saysApproved(body: string | Buffer, conversationId: string, { isNamed }: Wanted): boolean {
  const object = objectIn(body);
  if (!object) return false;
  const all = (wanted: string, within = object): unknown[] => valuesIn(within, wanted);
  const codes = all('code');
  const amounts = all('paymentInfo').flatMap((info) =>
    typeof info === 'object' && info !== null && !Array.isArray(info) ? all('amount', info) : [NaN],
  );
  if (isNamed) amounts.push(...all('amount'));
  if (isNamed && (all('conversationId').length === 0 || amounts.length === 0)) return false;
  return (
    codes.length > 0 &&
    [...codes, ...all('resultCode')].every((code) => code === 'B0000') &&
    all('conversationId').every((id) => id === conversationId) &&
    all('currency').every((currency) => Number(currency) === 949) &&
    amounts.every((amount) => Number(amount) === Number(AMOUNT))
  );
}

function fieldsOf(conversationId: string): Record<string, unknown> {
  return {
    code: 'B0000',
    message: 'Onaylandı',
    resultCode: 'B0000',
    conversationId,
    currency: '949',
    paymentInfo: { amount: 'AMOUNT', installmentCount: 1 },
    instrumentDetail: { maskedCardNumber: '450803******4509' },
    htmlForm: PAGE,
  };
}

import fc from 'fast-check';
import { PaymentNotSentError, type Refund } from 'nestjs-card-payment';
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

const PART = '40.00';
const APPROVED: readonly unknown[] = ['00', 'B0000'];
/** A refund and a void are posted to the path of a DoPayment. */
const OPERATION = 'DoPayment';

/** As the vendor's public sample has it, without an amount. */
function refundFields(conversationId: string): Record<string, unknown> {
  const message = 'Approved';
  const ids = { conversationId, orderId: 'ORDER', paymentId: 'PAYMENT', bankUniqueReferenceNumber: '503615446559' };
  return { code: '00', message, resultCode: '00', resultDescription: message, ...ids };
}

/** The same with the amount of the refund, or of the sale. */
function withAmount(amount: string) {
  return (conversationId: string): Record<string, unknown> => ({
    ...refundFields(conversationId),
    currency: '949',
    paymentInfo: { amount },
  });
}

const answer = fc.oneof(answersLike(refundFields), answersLike(withAmount(PART)), answersLike(withAmount(AMOUNT)));

describe('random replies to refunds and voids', () => {
  let gateway: FuzzedGateway;
  let shop: Shop;
  let count = 0;

  beforeAll(async () => {
    gateway = await FuzzedGateway.start((id) => ({ ...refundFields(id), code: 'B0000', resultCode: 'B0000' }));
    shop = await startShop({
      options: {
        baseUrl: gateway.url,
        merchantId: 'merchant',
        clientId: 'client',
        clientSecret: 'c2VjcmV0',
        apiKey: 'key',
        dialect: 'morpos',
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
    `${REPLIES} of them: no throw after sending, no success that is none, no failure of what was given back`,
    async () => {
      const kind = fc.constantFrom<Refund['kind']>('refund', 'refund', 'void');
      await tryAll(fc.tuple(kind, answer), ([what, said]) => tryOne(what, said));
    },
    REPLIES_MS,
  );

  async function tryOne(kind: Refund['kind'], said: Answer): Promise<void> {
    count += 1;
    const refundId = `REFUND${String(count).padStart(14, '0')}`;
    const { conversationId } = await shop.payments.doPayment(sale(AMOUNT));
    gateway.planned.set(refundId, { operation: OPERATION, answer: said });
    try {
      const amount = kind === 'refund' ? { amount: PART } : {};
      expectRight(await shop.payments[kind]({ conversationId, refundId, ...amount }), said);
    } catch (error) {
      const isUnsent = error instanceof PaymentNotSentError && gateway.timesReceived(OPERATION, refundId) === 0;
      if (!isUnsent) throw error;
    } finally {
      expect(gateway.timesReceived(OPERATION, refundId)).toBeLessThanOrEqual(1);
      gateway.planned.delete(refundId);
    }
  }
});

/** Reads the reply again, by other code than the module's: what it must contain if money was given back as asked. */
function expectRight({ kind, state, refundId }: Refund, said: Answer): void {
  const amounts = kind === 'void' ? [AMOUNT] : [PART, AMOUNT];
  const isSuccess = isWhole(said) && said.status >= 200 && said.status < 300;
  const body = said.body(refundId);
  const codes = codesIn(body);
  const isApproved = isSuccess && codes.length > 0 && codes.every((code) => APPROVED.includes(code));
  if (state === 'succeeded') {
    expect({ ...said, isRight: isApproved && isAboutRefund(body, refundId, amounts) }).toMatchObject({ isRight: true });
  }
  if (isApproved) expect(state).not.toBe('failed');
  const isGenuine = [refundFields, ...amounts.map(withAmount)].some(
    (right) => genuine(right, refundId) === String(body),
  );
  if (isWhole(said) && said.status === 200 && isGenuine) expect(state).toBe('succeeded');
}

function codesIn(body: string | Buffer): unknown[] {
  const object = objectIn(body);
  return object ? [...valuesIn(object, 'code'), ...valuesIn(object, 'resultCode')] : [];
}

/** Whether the ids, currencies and amounts that it shows are those of the refund, or the amount of its sale. */
function isAboutRefund(body: string | Buffer, refundId: string, amounts: readonly string[]): boolean {
  const object = objectIn(body) ?? {};
  const infos = valuesIn(object, 'paymentInfo');
  const places = [object, ...infos.filter((info): info is object => typeof info === 'object' && info !== null)];
  const all = (name: string): unknown[] => places.flatMap((place) => valuesIn(place, name));
  return (
    infos.every((info) => typeof info === 'object' && !Array.isArray(info)) &&
    valuesIn(object, 'conversationId').every((id) => id === refundId) &&
    [...all('currency'), ...all('currencyCode')].every((currency) => Number(currency) === 949) &&
    all('amount').every((amount) => amounts.some((own) => Number(own) === Number(amount)))
  );
}

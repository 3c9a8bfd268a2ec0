import fc from 'fast-check';
import { PaymentInit3dError, PaymentNotSentError, type PaymentOptions, standardDialect } from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';
import { type Shop, startShop } from '../rigs/shop.js';
import { accountAtUrl } from '../rigs/simulated-gateway.js';
import {
  AMOUNT,
  type Answer,
  answersLike,
  fuzzedGateway,
  genuine,
  isWhole,
  objectIn,
  REPLIES,
  REPLIES_MS,
  type RightFields,
  tryAll,
  valuesIn,
} from './random-replies.js';

const PAGE = Buffer.from('<!doctype html><html><body>bank</body></html>').toString('base64');
/** What a refund gives back of {@link AMOUNT}. */
const PART = '40.00';

/** A call whose request gets a random answer. */
interface Call {
  /** The path's last part. */
  readonly path: 'DoPayment' | 'Init3d' | 'Auth3d';
  /** @returns the state in which the payment or refund of this id is then; null where no money can have moved */
  readonly run: (shop: Shop, id: string) => Promise<string | null>;
  /** Whether an answer that was read as approved is about this payment or refund, read by other code than the module's. */
  readonly isAbout: (body: object, id: string) => boolean;
  readonly approvedBy: readonly unknown[];
  /** The answers that are right. */
  readonly right: readonly RightFields[];
}

function paid(path: Call['path'], isNamed: boolean, run: Call['run']): Call {
  const isAbout = (body: object, id: string) => isAboutPayment(body, id, isNamed);
  return { path, run, isAbout, approvedBy: ['B0000'], right: [paymentFields] };
}

/** A refund and a void are posted to the path of a DoPayment. */
function givenBack(kind: 'refund' | 'void', input: object, amounts: readonly string[]): Call {
  return {
    path: 'DoPayment',
    async run({ payments }, refundId) {
      const { conversationId } = await payments.doPayment(sale(AMOUNT));
      return (await payments[kind]({ conversationId, refundId, ...input })).state;
    },
    isAbout: (body, id) => isAboutRefund(body, id, amounts),
    approvedBy: ['00', 'B0000'],
    right: [refundFields, ...amounts.map(withAmount)],
  };
}

const PAYMENTS: readonly Call[] = [
  paid('DoPayment', false, async ({ payments }, conversationId) => {
    return (await payments.doPayment(sale(AMOUNT, { conversationId }))).state;
  }),
  paid('Init3d', false, async ({ payments }, conversationId) => {
    await payments.init3d(sale(AMOUNT, { conversationId }));
    return null;
  }),
  paid('Auth3d', true, async ({ payments }, conversationId) => {
    await payments.init3d(sale(AMOUNT, { conversationId }));
    return (await payments.auth3d({ conversationId, fields: { conversationId, Code: 'B0000' } })).state;
  }),
];
const REFUND = givenBack('refund', { amount: PART }, [PART, AMOUNT]);
const GIVE_BACKS: readonly Call[] = [REFUND, REFUND, givenBack('void', {}, [AMOUNT])];

describe.each<[string, readonly Call[], fc.Arbitrary<Answer>, right: RightFields, PaymentOptions['dialect']]>([
  ['payments', PAYMENTS, answersLike(paymentFields), paymentFields, standardDialect({ signer: () => 'signed' })],
  [
    'refunds and voids',
    GIVE_BACKS,
    fc.oneof(answersLike(refundFields), answersLike(withAmount(PART)), answersLike(withAmount(AMOUNT))),
    (id) => ({ ...refundFields(id), code: 'B0000', resultCode: 'B0000' }),
    'morpos',
  ],
])('random replies to %s', (_what, calls, answers, right, dialect) => {
  let gateway: Awaited<ReturnType<typeof fuzzedGateway>>;
  let shop: Shop;
  let count = 0;

  beforeAll(async () => {
    gateway = await fuzzedGateway(right);
    const account = { ...accountAtUrl(gateway.url), dialect };
    shop = await startShop({ options: { ...account, background: false, timeoutMs: 20_000 } });
  });
  afterAll(async () => {
    await shop.app.close();
    await gateway.close();
  });

  it(
    `${REPLIES} of them: no throw after sending, no success that is none, no failure of what was approved`,
    () => tryAll(fc.tuple(fc.constantFrom(...calls), answers), ([call, said]) => tryOne(call, said)),
    REPLIES_MS,
  );

  async function tryOne(call: Call, said: Answer): Promise<void> {
    count += 1;
    const id = `FUZZ${String(count).padStart(16, '0')}`;
    gateway.planned.set(id, { operation: call.path, answer: said });
    try {
      const state = await call.run(shop, id);
      if (state !== null) expectRight(call, id, state, said);
    } catch (error) {
      const isAllowed =
        error instanceof PaymentNotSentError
          ? gateway.timesReceived(call.path, id) === 0
          : call.path === 'Init3d' && error instanceof PaymentInit3dError;
      if (!isAllowed) throw error;
    } finally {
      expect(gateway.timesReceived(call.path, id)).toBeLessThanOrEqual(1);
      gateway.planned.delete(id);
    }
  }
});

/** Reads the reply again: what it must contain if money was moved as asked. */
function expectRight({ isAbout, approvedBy, right }: Call, id: string, state: string, said: Answer): void {
  const body = said.body(id);
  const object = objectIn(body) ?? {};
  const codes = [...valuesIn(object, 'code'), ...valuesIn(object, 'resultCode')];
  const isSuccess = isWhole(said) && said.status >= 200 && said.status < 300;
  const isApproved = isSuccess && codes.length > 0 && codes.every((code) => approvedBy.includes(code));
  if (state === 'succeeded') {
    expect({ ...said, isRight: isApproved && isAbout(object, id) }).toMatchObject({ isRight: true });
  }
  if (isApproved) expect(state).not.toBe('failed');
  const isGenuine = right.some((fields) => genuine(fields, id) === String(body));
  if (isWhole(said) && said.status === 200 && isGenuine) expect(state).toBe('succeeded');
}

/** @param isNamed whether an approval has to name the payment and its amount */
function isAboutPayment(body: object, conversationId: string, isNamed: boolean): boolean {
  const all = (wanted: string, within = body): unknown[] => valuesIn(within, wanted);
  const amounts = all('paymentInfo').flatMap((info) =>
    typeof info === 'object' && info !== null && !Array.isArray(info) ? all('amount', info) : [NaN],
  );
  if (isNamed) amounts.push(...all('amount'));
  if (isNamed && (all('conversationId').length === 0 || amounts.length === 0)) return false;
  return (
    all('code').length > 0 &&
    all('conversationId').every((id) => id === conversationId) &&
    all('currency').every((currency) => Number(currency) === 949) &&
    amounts.every((amount) => Number(amount) === Number(AMOUNT))
  );
}

/** Whether the ids, currencies and amounts that it shows are those of the refund, or the amount of its sale. */
function isAboutRefund(body: object, refundId: string, amounts: readonly string[]): boolean {
  const infos = valuesIn(body, 'paymentInfo');
  const places = [body, ...infos.filter((info): info is object => typeof info === 'object' && info !== null)];
  const all = (name: string): unknown[] => places.flatMap((place) => valuesIn(place, name));
  return (
    infos.every((info) => typeof info === 'object' && !Array.isArray(info)) &&
    valuesIn(body, 'conversationId').every((id) => id === refundId) &&
    [...all('currency'), ...all('currencyCode')].every((currency) => Number(currency) === 949) &&
    all('amount').every((amount) => amounts.some((own) => Number(own) === Number(amount)))
  );
}

function paymentFields(conversationId: string): Record<string, unknown> {
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

/** As the vendor's public sample has it, without an amount. */
function refundFields(conversationId: string): Record<string, unknown> {
  const message = 'Approved';
  const ids = { conversationId, orderId: 'ORDER', paymentId: 'PAYMENT', bankUniqueReferenceNumber: '503615446559' };
  return { code: '00', message, resultCode: '00', resultDescription: message, ...ids };
}

/** The same with the amount of the refund, or of the sale. */
function withAmount(amount: string): RightFields {
  return (conversationId) => ({ ...refundFields(conversationId), currency: '949', paymentInfo: { amount } });
}

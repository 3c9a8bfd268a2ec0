import {
  type DoPaymentDto,
  type Payment,
  PaymentDuplicateError,
  type PaymentService,
  type PaymentState,
} from 'nestjs-card-payment';
import { aPayment } from 'nestjs-card-payment/testing';
import { type Merchant, sale, useMerchant, useMerchants } from '../e2e/merchant.js';
import { codeBlocks, guidePages } from './guide.js';
import { GuideRecipes } from './guide-recipes.js';

type Recipe = (payments: PaymentService, input: DoPaymentDto) => Promise<unknown>;

const ERRORS = 'docs/errors.md';
/** The recipe that handles a duplicate and reads the payment of an error. It is run below. */
const TESTED_RECIPES = [`${ERRORS} src/start-safely.ts`];

const PAGE = { page: expect.stringContaining('<form') };

/** The sale to which the key belongs, the same again under another key, and other sales. */
const FIRST = sale('149.90', { reference: 'order-1', idempotencyKey: 'checkout-7' });
const AGAIN = { ...FIRST, idempotencyKey: 'checkout-8' };
const AS_NUMBER = { ...FIRST.transactionDetails, amount: 149.9 };
const OTHER_SALES: [string, DoPaymentDto][] = [
  ['another order', { ...FIRST, reference: 'order-2' }],
  ['no order', { ...FIRST, reference: undefined }],
  ['another amount', { ...FIRST, transactionDetails: { ...FIRST.transactionDetails, amount: '14.99' } }],
  ['another currency', { ...FIRST, transactionDetails: { ...FIRST.transactionDetails, currencyCode: 840 } }],
  ['other instalments', { ...FIRST, transactionDetails: { ...FIRST.transactionDetails, installmentCount: 3 } }],
];

it('every recipe that handles a duplicate or reads the payment of an error is tested here', () => {
  const reading = /PaymentDuplicateError|(?:error|failure|cause)\)?\??\.payment\b|payment \} = error/;
  const found = guidePages().flatMap((page) =>
    codeBlocks(page).flatMap(({ code, path, line }) => (reading.test(code) ? [`${page} ${path ?? line}`] : [])),
  );
  expect(found).toEqual(TESTED_RECIPES);
});

describe('the recipe for duplicates', () => {
  const recipes = new GuideRecipes(ERRORS);
  const merchants = useMerchants({ dialect: 'standard' });
  let merchant: Merchant;
  let startSafely: Recipe;

  beforeAll(async () => {
    ({ startSafely } = await recipes.load<{ startSafely: Recipe }>('src/start-safely.ts'));
  });
  beforeEach(async () => {
    merchant = await merchants.start('express');
  });
  afterAll(() => recipes.remove());

  const direct = () => merchant.payments.doPayment(FIRST);
  const opened = () => merchant.payments.init3d(FIRST);
  const paid = async () => {
    const { conversationId } = await opened();
    const { request } = merchants.simulator.approve(conversationId);
    await fetch(request.url, { ...request, redirect: 'manual' });
    return conversationId;
  };

  it.each<[what: string, before: () => Promise<unknown>, input: DoPaymentDto, answer: unknown]>([
    ['at first', () => Promise.resolve(), FIRST, PAGE],
    ['whose page was lost', opened, FIRST, 'try again'],
    ['whose page was lost, under another key', opened, AGAIN, PAGE],
    ['with the same amount in another format', opened, { ...FIRST, transactionDetails: AS_NUMBER }, 'try again'],
    ['that was paid at the bank', paid, FIRST, 'already paid'],
    ['with the key of a direct payment of the same order', direct, FIRST, 'id in use'],
    ['whose order another payment has paid', direct, AGAIN, 'already paid'],
  ])('startSafely answers a sale %s', async (_what, before, input, answer) => {
    await before();
    const charged = merchants.simulator.ledger.charges.length;
    expect(await startSafely(merchant.payments, input)).toEqual(answer);
    expect(merchants.simulator.ledger.charges).toHaveLength(charged);
  });

  it.each(OTHER_SALES)(
    'startSafely reveals nothing about another sale, even if it is paid: %s',
    async (_what, other) => {
      const conversationId = await paid();
      const byId = { ...other, idempotencyKey: undefined, conversationId };
      for (const input of [other, byId]) expect(await startSafely(merchant.payments, input)).toBe('id in use');
      expect(merchants.simulator.ledger.charges).toHaveLength(1);
    },
  );

  it('startSafely reveals nothing about another sale that is not paid yet', async () => {
    await opened();
    for (const [, other] of OTHER_SALES) expect(await startSafely(merchant.payments, other)).toBe('id in use');
  });

  it.each<[PaymentState, Payment['reason'], string]>([
    ['initiating', null, 'wait'],
    ['awaiting', null, 'try again'],
    ['authorizing', null, 'wait'],
    ['succeeded', null, 'already paid'],
    ['unknown', 'no_answer', 'wait'],
    ['review', 'amount_mismatch', 'wait'],
    ['failed', 'declined', 'try again'],
    ['failed', 'reference_taken', 'wait'],
    ['expired', null, 'try again'],
  ])('startSafely answers a repeated sale that is %s (%s) with %j', async (state, reason, answer) => {
    const payment = aPayment({
      state,
      reason,
      kind: '3d',
      reference: 'order-1',
      amount: '149.90',
      installmentCount: 1,
    });
    expect(await startSafely(refusing(payment), FIRST)).toBe(answer);
  });

  it('startSafely reports the id as in use if the payment has been deleted, and passes on any other error', async () => {
    expect(await startSafely(refusing(null), FIRST)).toBe('id in use');
    const failing = { init3d: () => Promise.reject(new Error('unexpected')) } as unknown as PaymentService;
    await expect(startSafely(failing, FIRST)).rejects.toThrow('unexpected');
  });
});

describe("the recipe for open pages of the gateway's", () => {
  const recipes = new GuideRecipes('docs/ways-to-pay.md');
  const order = { reference: 'order-1', transactionDetails: { amount: '149.90', currencyCode: 949 } };
  const merchant = useMerchant({ platform: 'express' });
  let giveUpOpenPage: (payments: PaymentService, reference: string) => Promise<boolean>;

  beforeAll(async () => {
    ({ giveUpOpenPage } = await recipes.load<{ giveUpOpenPage: typeof giveUpOpenPage }>('src/give-up-open-page.ts'));
  });
  afterAll(() => recipes.remove());

  it('frees the order for another form, unless the page was paid', async () => {
    const { payments } = merchant;
    expect(await giveUpOpenPage(payments, 'order-1')).toBe(true);
    await payments.startHosted(order);
    expect(await giveUpOpenPage(payments, 'order-1')).toBe(true);
    const { conversationId } = await payments.startHosted({ ...order, form: 'embedded' });
    merchant.simulator.payAtPage(conversationId, { callback: 'none' });
    expect(await giveUpOpenPage(payments, 'order-1')).toBe(false);
    expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
  });

  it('frees nothing while the gateway does not answer', async () => {
    const other = { ...order, reference: 'order-2' };
    const { conversationId } = await merchant.payments.startHosted(other);
    merchant.simulator.fail({ operation: 'CheckPayment', kind: 'reset' });
    expect(await giveUpOpenPage(merchant.payments, 'order-2')).toBe(false);
    expect(await merchant.payments.find(conversationId)).toMatchObject({ state: 'pending' });
  });
});

function refusing(payment: Payment | null): PaymentService {
  const init3d = () => Promise.reject(new PaymentDuplicateError(payment, 'idempotencyKey'));
  return { init3d } as unknown as PaymentService;
}

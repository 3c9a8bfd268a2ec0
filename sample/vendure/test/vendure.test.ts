import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LanguageCode, mergeConfig, Refund } from '@vendure/core';
import gql from 'graphql-tag';
import { createTestEnvironment, registerInitializer, SqljsInitializer, testConfig } from '@vendure/testing';
import { type PaymentIn, PaymentOperations, PaymentService, PaymentSimulator } from 'nestjs-card-payment';
import { EntityManager } from 'typeorm';
import { cardPaymentHandler } from '../src/card-payment.handler';
import { CardPaymentPlugin } from '../src/card-payment.plugin';
import { OrderBook } from '../src/order-book';

const PORT = 3060;
const folder = mkdtempSync(join(tmpdir(), 'vendure-'));
Object.assign(process.env, {
  NODE_ENV: 'test',
  PAYMENT_BASE_URL: 'simulator:',
  PAYMENT_DIALECT: 'morpos',
  PAYMENT_STORE_URL: `sqlite:${join(folder, 'payments.sqlite')}`,
  PAYMENT_PUBLIC_URL: `http://localhost:${PORT}`,
  STOREFRONT_URL: 'https://shop.example',
});
const CSV = `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets
Teapot,teapot,For tea,,,,,TEA,100.00,standard,100,false,,`;
const CARD = {
  'cardDetails.cardNo': '4508034508034509',
  'cardDetails.expDate': '12/36',
  'cardDetails.cvv': '000',
  'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
  'cardHolderInfo.buyerGsm': '905551112233',
};
/** Of the teapot with its tax, and the shipping. */
const TOTAL = 12_500;

registerInitializer('sqljs', new SqljsInitializer(folder));
const config = mergeConfig(testConfig, { apiOptions: { port: PORT }, plugins: [CardPaymentPlugin] });
const { server, adminClient, shopClient } = createTestEnvironment(config);
let payments: PaymentService;
let operations: PaymentOperations;
let simulator: PaymentSimulator;

before(async () => {
  const productsCsvPath = join(folder, 'products.csv');
  writeFileSync(productsCsvPath, CSV);
  const initialData = {
    defaultLanguage: LanguageCode.en,
    defaultZone: 'Europe',
    countries: [{ name: 'Türkiye', code: 'TR', zone: 'Europe' }],
    taxRates: [{ name: 'Standard', percentage: 20 }],
    shippingMethods: [{ name: 'Parcel', price: 500 }],
    paymentMethods: [{ name: 'card', handler: { code: 'card-payment', arguments: [] } }],
    collections: [],
  };
  await server.init({ initialData, productsCsvPath, customerCount: 1 });
  payments = server.app.get(PaymentService);
  operations = server.app.get(PaymentOperations);
  simulator = server.app.get(PaymentSimulator);
  await adminClient.asSuperAdmin();
});
after(async () => {
  await server.destroy();
  rmSync(folder, { recursive: true, force: true });
});

type Answer = Record<string, any>;
const ask = async (client: typeof shopClient, query: string): Promise<Answer> =>
  Object.values(await client.query<Record<string, Answer>>(gql(query)))[0]!;
const shop = (query: string): Promise<Answer> => ask(shopClient, query);
const admin = (query: string): Promise<Answer> => ask(adminClient, query);

/** A visitor whose order waits for its payment. */
async function order(): Promise<{ id: string; code: string }> {
  await shopClient.asAnonymousUser();
  await shop('mutation { addItemToOrder(productVariantId: "T_1", quantity: 1) { __typename } }');
  await shop(`mutation { setCustomerForOrder(input: {
    firstName: "Ada", lastName: "Yılmaz", emailAddress: "ada${Date.now()}@example.com" }) { __typename } }`);
  await shop(`mutation { setOrderShippingAddress(input: {
    streetLine1: "İstiklal Cad. 1", city: "İstanbul", postalCode: "34000", countryCode: "TR" }) { __typename } }`);
  await shop('mutation { setOrderShippingMethod(shippingMethodId: ["T_1"]) { __typename } }');
  const moved =
    'mutation { transitionOrderToState(state: "ArrangingPayment") { ... on Order { id code state totalWithTax } } }';
  const { id, code, state, totalWithTax } = await shop(moved);
  assert.deepEqual([state, totalWithTax], ['ArrangingPayment', TOTAL]);
  return { id, code };
}

/** Posts the storefront's card form, and finds the payment that waits at the bank. */
async function pay(code: string): Promise<string> {
  const headers = { authorization: `Bearer ${shopClient.getAuthToken()}` };
  const form = { method: 'POST', headers, body: new URLSearchParams(CARD) };
  const bankPage = await fetch(`http://localhost:${PORT}/card-payment/card`, form);
  assert.equal(bankPage.status, 200);
  assert.match(await bankPage.text(), /<form method="post"/);
  const ofOrder = await payments.findByReference(code);
  return ofOrder.find(({ state }) => state === 'awaiting')!.conversationId;
}

/** Without the `conversationId` that the module adds. */
const withoutId = (location: string | null): string | undefined => location?.replace(/[?&]conversationId=\w+$/, '');

/** The buyer comes back from the bank, and is sent to this page of the storefront. */
async function comeBack(conversationId: string): Promise<string | undefined> {
  const { request } = simulator.approve(conversationId);
  const { headers } = await fetch(request.url, { ...request, redirect: 'manual' });
  return withoutId(headers.get('location'));
}

const IN_BOOK = 'state payments { id state amount transactionId refunds { id state total transactionId metadata } }';
const inBook = (id: string): Promise<Answer> => admin(`{ order(id: "${id}") { ${IN_BOOK} } }`);

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    assert.ok(tries < 200, 'it took too long');
    await sleep(50);
  }
}
const untilPaid = (id: string): Promise<void> => until(async () => (await inBook(id)).state === 'PaymentSettled');

async function paidOrder(): Promise<{ id: string; code: string; paymentId: string; conversationId: string }> {
  const { id, code } = await order();
  const conversationId = await pay(code);
  await comeBack(conversationId);
  await untilPaid(id);
  const [payment] = (await inBook(id)).payments;
  return { id, code, paymentId: payment.id, conversationId };
}

const refund = (paymentId: string, amount: number): Promise<Answer> =>
  admin(`mutation { refundOrder(input: { paymentId: "${paymentId}", amount: ${amount}, reason: "a chip", lines: [], shipping: 0, adjustment: 0 }) {
    __typename ... on Refund { id state total transactionId } ... on ErrorResult { errorCode message } } }`);

it('an order is paid by 3D Secure', async () => {
  const { id, code } = await order();
  const conversationId = await pay(code);
  assert.equal((await inBook(id)).state, 'ArrangingPayment');
  assert.equal(await comeBack(conversationId), `https://shop.example/checkout/confirmation/${code}`);
  await untilPaid(id);
  const { payments: booked } = await inBook(id);
  assert.deepEqual(
    booked.map(({ state, amount, transactionId }: Answer) => [state, amount, transactionId]),
    [['Settled', TOTAL, conversationId]],
  );
  assert.equal(simulator.ledger.chargedTimes(conversationId), 1);
});

it("an order is paid at the gateway's own page", async () => {
  const { id, code } = await order();
  const headers = { authorization: `Bearer ${shopClient.getAuthToken()}` };
  const url = `http://localhost:${PORT}/card-payment/page`;
  const sent = await fetch(url, { method: 'POST', headers, redirect: 'manual' });
  assert.equal(sent.status, 303);
  const { request } = simulator.payAtPage(sent.headers.get('location')!);
  const back = await fetch(request.url, { ...request, redirect: 'manual' });
  assert.equal(withoutId(back.headers.get('location')), `https://shop.example/checkout/confirmation/${code}`);
  await untilPaid(id);
});

it('a declined card leaves the order as it is, and another card may pay it', async () => {
  const { id, code } = await order();
  const declined = await pay(code);
  simulator.fail({
    operation: 'Auth3d',
    kind: 'edit',
    edit: (fields) => Object.assign(fields, { code: 'B0005', resultCode: 'B0005' }),
  });
  assert.equal(await comeBack(declined), `https://shop.example/checkout/payment?declined=${code}`);
  assert.deepEqual((await inBook(id)).payments, []);
  await comeBack(await pay(code));
  await untilPaid(id);
});

it('an event that comes again adds nothing', async () => {
  const { id, conversationId } = await paidOrder();
  const payment = (await payments.find(conversationId)) as PaymentIn<'succeeded'>;
  const again = { eventId: 'again', type: 'payment.succeeded', payment, occurredAt: new Date() } as const;
  await server.app.get(OrderBook).paid(again);
  assert.equal((await inBook(id)).payments.length, 1);
});

it('an order that was changed while its buyer was at the bank is not charged', async () => {
  const { id, code } = await order();
  const conversationId = await pay(code);
  await shop('mutation { transitionOrderToState(state: "AddingItems") { __typename } }');
  assert.equal(await comeBack(conversationId), `https://shop.example/checkout/payment?declined=${code}`);
  assert.equal(simulator.ledger.chargedTimes(conversationId), 0);
  assert.equal((await inBook(id)).state, 'AddingItems');
});

it('a payment that Vendure refuses waits with the reason, and is added as soon as Vendure takes it', async () => {
  const { id, code } = await order();
  const conversationId = await pay(code);
  const enable = (enabled: boolean) =>
    admin(`mutation { updatePaymentMethod(input: { id: "T_1", enabled: ${enabled} }) { id } }`);
  await enable(false);
  await comeBack(conversationId);
  const waiting = async () => (await operations.deliveries({ parked: false })).deliveries;
  await until(async () => (await waiting()).some((one) => one.conversationId === conversationId && one.error !== null));
  await enable(true);
  await untilPaid(id);
  assert.deepEqual(await waiting(), []);
});

it('a payment whose outcome is unknown is added when it is settled', async () => {
  const { id, code } = await order();
  const conversationId = await pay(code);
  simulator.fail({ operation: 'Auth3d', kind: 'close' });
  await comeBack(conversationId);
  assert.equal((await payments.find(conversationId))?.state, 'unknown');
  assert.deepEqual((await inBook(id)).payments, []);
  await payments.inquire(conversationId);
  await untilPaid(id);
});

it('a buyer who says that it was paid is not believed', async () => {
  const { conversationId } = await paidOrder();
  const { id } = await order();
  const added = await shop(`mutation { addPaymentToOrder(input: {
    method: "card", metadata: { conversationId: "${conversationId}" } }) { ... on ErrorResult { errorCode } } }`);
  assert.equal(added['errorCode'], 'PAYMENT_DECLINED_ERROR');
  assert.equal((await inBook(id)).state, 'ArrangingPayment');
});

it('a refund that lost its row in a crash is given once', async () => {
  const { id, paymentId, conversationId } = await paidOrder();
  const { prototype } = EntityManager;
  const { save } = prototype;
  prototype.save = function (this: EntityManager, ...args: unknown[]) {
    if (args[0] === Refund) throw new Error('The process ends here');
    return save.apply(this, args as never);
  } as typeof save;
  await assert.rejects(refund(paymentId, 1_000)).finally(() => (prototype.save = save));
  assert.equal(simulator.ledger.refundedAmount(conversationId), '10.00');
  assert.equal((await refund(paymentId, 1_000))['state'], 'Settled');
  assert.equal(simulator.ledger.refundedAmount(conversationId), '10.00');
  assert.equal((await refund(paymentId, 1_000))['state'], 'Settled');
  assert.equal(simulator.ledger.refundedAmount(conversationId), '20.00');
  assert.equal((await inBook(id)).payments[0].refunds.length, 2);
});

it('two administrators who refund at once give back once', async () => {
  const { id, paymentId, conversationId } = await paidOrder();
  const createRefund = cardPaymentHandler.createRefund.bind(cardPaymentHandler);
  const handlers: (() => void)[] = [];
  // This database locks no rows. Both have read the book here before the first writes its row, and the second goes on then.
  cardPaymentHandler.createRefund = async (...args) => {
    await new Promise<void>((resolve) => handlers.push(resolve));
    return createRefund(...args);
  };
  const refunds = [refund(paymentId, 2_500), refund(paymentId, 2_500)];
  try {
    await until(async () => handlers.length === 2);
    handlers[0]!();
    await Promise.race(refunds);
    handlers[1]!();
    await Promise.all(refunds);
  } finally {
    cardPaymentHandler.createRefund = createRefund;
  }
  assert.equal(simulator.ledger.refundedAmount(conversationId), '25.00');
  const states = (await inBook(id)).payments[0].refunds.map(({ state }: Answer) => state);
  assert.deepEqual(states.sort(), ['Failed', 'Settled']);
});

it('a refund whose answer is lost is pending in Vendure until somebody settles it', async () => {
  const { id, paymentId, conversationId } = await paidOrder();
  simulator.fail({ operation: 'refund', kind: 'close' });
  const { state, transactionId } = await refund(paymentId, 1_000);
  assert.equal(state, 'Pending');
  await payments.resolveRefund(transactionId, 'succeeded', 'It is in the panel');
  await until(async () => (await inBook(id)).payments[0].refunds[0].state === 'Settled');
  assert.equal(simulator.ledger.refundedAmount(conversationId), '10.00');
});

it('what the gateway refuses to give back is a refund that failed', async () => {
  const { id, paymentId, conversationId } = await paidOrder();
  assert.equal((await refund(paymentId, 1_080))['state'], 'Failed');
  assert.equal(simulator.ledger.refundedAmount(conversationId), '0.00');
  assert.equal((await inBook(id)).payments[0].refunds[0].state, 'Failed');
});

// Pays an order in an application of docs/orders.md, delivers its events again, and prints the outcome.
import 'reflect-metadata';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NestFactory } from '@nestjs/core';
import { PaymentService, PaymentSimulator } from 'nestjs-card-payment';
import pg from 'pg';

const folder = resolve(process.argv[2]);
const load = (file) => import(pathToFileURL(resolve(folder, file)).href);
const [{ AppModule }, { OrderService }] = [await load('app.module.js'), await load('order.service.js')];

const database = new pg.Client({ connectionString: process.env.DATABASE_URL });
await database.connect();
const rows = async (sql) => (await database.query(sql)).rows;

const start = () =>
  NestFactory.createApplicationContext(AppModule, { logger: ['error', 'fatal'], abortOnError: false });
let app = await start();
await database.query(`insert into products (id, stock) values ('mug', 10)`);
await database.query(`insert into orders (id, total, "productId") values ('1001', 149.9, 'mug')`);

const [orders, payments, simulator] = [OrderService, PaymentService, PaymentSimulator].map((type) => app.get(type));
const cardHolderInfo = { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' };
const page = await orders.startPayment('1001', { cardDetails: simulator.testCards[0], cardHolderInfo });
const { fields } = simulator.approve(page);
const [{ conversationId }] = await payments.findByReference('1001');
const payment = await payments.auth3d({ conversationId, fields });
// Two handlers receive the event.
const until = Date.now() + 30_000;
while ((await rows('select from handled_events')).length < 2) {
  if (Date.now() > until) throw new Error('one of the handlers did not get its event');
  await new Promise((done) => setTimeout(done, 20));
}

const outcome = { state: payment.state, charged: simulator.ledger.total() };
const [{ eventId }] = await rows('select "eventId" from handled_events');
const stock = async () => (await rows('select stock from products'))[0].stock;
const receiptDue = async () => (await rows('select "receiptDue" from orders'))[0].receiptDue;
const eventOf = (id, more) => ({ eventId: id, payment: { ...payment, ...more } });
const deliver = (id, more) => orders.markPaid(eventOf(id, more));
outcome.stock = await stock();
await Promise.all(Array.from({ length: 5 }, () => deliver(eventId)));
outcome.afterRepeats = await stock();
await Promise.all(Array.from({ length: 5 }, () => deliver('another:1')));
outcome.afterFiveAtOnce = await stock();
await Promise.all(Array.from({ length: 5 }, () => deliver('another:1', { account: 'second' })));
outcome.afterOtherAccount = await stock();

const first = await receiptDue();
await database.query('update orders set "receiptDue" = false');
await orders.queueReceipt(eventOf(eventId));
const repeated = await receiptDue();
await orders.queueReceipt(eventOf('another:1'));
outcome.receipts = { first, repeated, afterAnotherHandler: await receiptDue() };

outcome.withoutOrder = await deliver('third:1', { reference: 'none' }).then(
  () => 'handled',
  () => 'failed',
);
const handled = await rows(`select distinct account || ' ' || handler as by from handled_events`);
outcome.handled = handled.map(({ by }) => by).sort();
outcome.afterFailure = (await rows(`select from handled_events where "eventId" = 'third:1'`)).length;
const [{ paidBy }] = await rows('select "paidBy" from orders');
outcome.isPaid = paidBy === conversationId;
await app.close();

// Restarts as after a deployment, when the ORM may change its tables again.
app = await start();
outcome.afterRestart = (await app.get(PaymentService).find(conversationId))?.state;
await app.close();
await database.end();
process.stdout.write(JSON.stringify(outcome));

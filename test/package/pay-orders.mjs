// Pays an order in an application of docs/orders.md, delivers its events again, and prints what came of it.
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
while ((await rows('select from handled_events')).length === 0) await new Promise((done) => setTimeout(done, 20));

const outcome = { state: payment.state, charged: simulator.ledger.total() };
const [{ eventId }] = await rows('select "eventId" from handled_events');
const stock = async () => (await rows('select stock from products'))[0].stock;
const deliver = (id, reference = '1001') => orders.markPaid({ eventId: id, payment: { ...payment, reference } });
outcome.stock = await stock();
await Promise.all(Array.from({ length: 5 }, () => deliver(eventId)));
outcome.afterRepeats = await stock();
await Promise.all(Array.from({ length: 5 }, () => deliver('another:1')));
outcome.afterFiveAtOnce = await stock();
outcome.withoutOrder = await deliver('third:1', 'none').then(
  () => 'handled',
  () => 'failed',
);
outcome.handled = (await rows('select "eventId" from handled_events')).map((row) => row.eventId !== 'third:1');
const [{ paidBy }] = await rows('select "paidBy" from orders');
outcome.isPaid = paidBy === conversationId;
await app.close();

// As after a deployment: what an ORM does to tables at its start, it does again.
app = await start();
outcome.kept = (await app.get(PaymentService).find(conversationId))?.state;
await app.close();
await database.end();
process.stdout.write(JSON.stringify(outcome));

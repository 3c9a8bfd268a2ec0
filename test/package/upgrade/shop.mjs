// A shop with some release of the package, which runs the tasks that its parent process sends.
import 'reflect-metadata';
import { appendFileSync, readFileSync } from 'node:fs';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnPayment, PaymentModule, PaymentService } from 'nestjs-card-payment';

const { options, states, journal } = JSON.parse(process.argv[2]);
const manifest = new URL('node_modules/nestjs-card-payment/package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8'));

class Orders {
  settled({ type, eventId }) {
    appendFileSync(journal, `${JSON.stringify({ version, type, eventId })}\n`);
  }
}
Injectable()(Orders);
OnPayment(states, { id: 'orders' })(
  Orders.prototype,
  'settled',
  Object.getOwnPropertyDescriptor(Orders.prototype, 'settled'),
);

class Shop {}
Module({ imports: [PaymentModule.forRoot({ ...options, callback: false })], providers: [Orders] })(Shop);

let app;
try {
  app = await NestFactory.createApplicationContext(Shop, { logger: false, abortOnError: false });
} catch (error) {
  process.send({ number: 0, error: error.message });
  process.disconnect();
}

const TASKS = {
  pay: async (sales) => {
    const payments = [];
    for (const sale of sales) payments.push(await app.get(PaymentService).doPayment(sale));
    return payments.map(({ conversationId, state, version: change }) => ({ conversationId, state, change }));
  },
  statesOf: async (ids) => {
    const payments = await Promise.all(ids.map((id) => app.get(PaymentService).find(id)));
    return payments.map((payment) => payment?.state ?? null);
  },
  end: () => app.close().then(() => null),
};

if (app) {
  process.on('message', async ({ number, task, input }) => {
    try {
      process.send({ number, output: await TASKS[task](input) });
    } catch (error) {
      process.send({ number, error: `${error.name}: ${error.message}` });
    }
    if (task === 'end') process.disconnect();
  });
  process.on('disconnect', () => process.exit());
  process.send({ number: 0, output: version });
}

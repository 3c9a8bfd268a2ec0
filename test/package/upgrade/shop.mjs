// A shop with some release of the package, which does what its parent process asks.
import 'reflect-metadata';
import { appendFileSync, readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnPayment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { serveTasks } from '../../rigs/tasks.mjs';

const { options, states, journal } = JSON.parse(process.argv[2]);
const manifest = new URL('node_modules/nestjs-card-payment/package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8'));

class Orders {
  settled({ type, eventId }) {
    appendFileSync(journal, `${JSON.stringify({ version, type, eventId })}\n`);
  }
}
const settled = Object.getOwnPropertyDescriptor(Orders.prototype, 'settled');
OnPayment(states, { id: 'orders' })(Orders.prototype, 'settled', settled);

class Shop {}
Module({ imports: [PaymentModule.forRoot({ ...options, callback: false })], providers: [Orders] })(Shop);

const app = await NestFactory.createApplicationContext(Shop, { logger: false, abortOnError: false });
const payments = app.get(PaymentService);

serveTasks({
  pay: async (sales) => {
    const paid = [];
    for (const sale of sales) {
      const { conversationId, state, version: change } = await payments.doPayment(sale);
      paid.push({ conversationId, state, change });
    }
    return paid;
  },
  statesOf: (ids) => Promise.all(ids.map(async (id) => (await payments.find(id))?.state ?? null)),
  end: () => app.close(),
});

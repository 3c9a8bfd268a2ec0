// One of the processes that share a merchant's payments: the built package in an application of its own. It does what its parent says.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PaymentModule, PaymentService } from 'nestjs-card-payment';
import { serveTasks } from '../services/tasks.mjs';
import { readThenWriteStore } from './read-then-write-store.mjs';

const gateway = JSON.parse(process.argv[2]);

let app;
let payments;

const TASKS = {
  /** Starts the application, in place of the one before. */
  serve: async ({ storeUrl, isFlawed }) => {
    await app?.close();
    class Shop {}
    const payment = PaymentModule.forRoot({
      ...gateway,
      dialect: 'morpos',
      callback: false,
      returnUrl: 'https://shop.example/{token}',
      failUrl: 'https://shop.example/{token}',
      ...(isFlawed ? { store: await readThenWriteStore(storeUrl) } : { storeUrl }),
    });
    Module({ imports: [payment] })(Shop);
    app = await NestFactory.createApplicationContext(Shop, { logger: isFlawed ? false : ['error'] });
    payments = app.get(PaymentService);
    return null;
  },
  /** Starts the 3D payments. */
  start: async (sales) => {
    const started = [];
    for (const sale of sales) started.push((await payments.init3d(sale)).conversationId);
    return started;
  },
  /** Looks at the payments, so that connections stand, and waits for the signal. */
  warmUp: (ids) => Promise.all(ids.map((id) => payments.find(id))).then(() => null),
  /** Completes each payment with each copy of its callback, all at once. */
  race: async ({ callbacks, copies }) => {
    const runs = callbacks.flatMap((callback) => Array.from({ length: copies }, () => payments.auth3d(callback)));
    const outcomes = await Promise.allSettled(runs);
    return outcomes.flatMap(({ reason }) => (reason === undefined ? [] : [`${reason.name}: ${reason.message}`]));
  },
  end: () => app?.close(),
};

serveTasks(TASKS);

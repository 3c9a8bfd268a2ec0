// A shop, the built package in a process of its own, in which many payments run at once. It tells how long its event
// loop was held meanwhile.
import 'reflect-metadata';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MemoryPaymentStore, OnPayment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { serveTasks } from '../services/tasks.mjs';
import { LoopWatch } from './loop-watch.mjs';

const { gateway, storeDelayMs, plantedHoldMs } = JSON.parse(process.argv[2]);

/** As a store on the far side of a slow network. */
class SlowStore extends MemoryPaymentStore {
  async insert(...given) {
    await delay(storeDelayMs);
    return super.insert(...given);
  }

  async replace(...given) {
    await delay(storeDelayMs);
    return super.replace(...given);
  }
}

/** What the watch has to find: one write that computes for a while. */
let isHeld = false;

function hold() {
  if (isHeld || plantedHoldMs === 0) return;
  isHeld = true;
  const end = performance.now() + plantedHoldMs;
  while (performance.now() < end);
}

class Orders {
  paid() {
    hold();
  }
}
Injectable()(Orders);
OnPayment('succeeded', { id: 'orders' })(
  Orders.prototype,
  'paid',
  Object.getOwnPropertyDescriptor(Orders.prototype, 'paid'),
);

class Shop {}
const payment = PaymentModule.forRoot({
  ...gateway,
  dialect: 'morpos',
  callback: false,
  returnUrl: 'https://shop.example/{token}',
  failUrl: 'https://shop.example/{token}',
  store: storeDelayMs > 0 ? new SlowStore() : new MemoryPaymentStore(),
});
Module({ imports: [payment], providers: [Orders] })(Shop);
const app = await NestFactory.createApplicationContext(Shop, { logger: false });
const payments = app.get(PaymentService);

serveTasks({
  /** Makes as many payments at once, each begun in a turn of its own, as requests arrive at a server. */
  pay: async ({ count, sale }) => {
    isHeld = false;
    const watch = new LoopWatch();
    const delays = monitorEventLoopDelay({ resolution: 5 });
    watch.start();
    delays.enable();
    const began = performance.now();
    const running = [];
    for (let number = 0; number < count; number += 1) {
      running.push(payments.doPayment({ ...sale, reference: `order-${performance.now()}-${number}` }));
      await nextTurn();
    }
    const begunMs = performance.now() - began;
    const paid = await Promise.all(running);
    delays.disable();
    const tookMs = performance.now() - began;
    const outcomes = {};
    for (const { state, reason } of paid) {
      const outcome = reason === null ? state : `${state}, ${reason}`;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    return { outcomes, begunMs, tookMs, longestDelayMs: delays.max / 1e6 - 5, heldMs: watch.stop() };
  },
  end: () => app.close(),
});

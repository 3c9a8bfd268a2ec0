// The merchant's application of a process that is killed, or of the one that comes after it.
import 'reflect-metadata';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { OnPayment, PaymentClock, PaymentModule, PaymentService, SystemClock } from 'nestjs-card-payment';
import { openRedisStore } from 'nestjs-card-payment/redis';
import { openSqlStore } from 'nestjs-card-payment/sql';

/** The system's clock, which can be put forward. */
export class MovedClock extends SystemClock {
  ahead = 0;

  now() {
    return new Date(Date.now() + this.ahead);
  }
}

/** With the time of a clock that can be put forward, where one is given. */
export function openStore(url, clock) {
  return url.startsWith('redis:') ? openRedisStore(url, { clock }) : openSqlStore(url, { clock });
}

/** Does what an order needs, here: a line in a journal, written through to the disk. */
class Orders {
  static journal;
  static beforeWork = () => {};

  settled({ eventId }) {
    Orders.beforeWork();
    const file = openSync(Orders.journal, 'a');
    writeSync(file, `${eventId}\n`);
    fsyncSync(file);
    closeSync(file);
  }
}
Injectable()(Orders);
const STATES = ['succeeded', 'failed', 'expired', 'unknown', 'review'];
OnPayment(STATES)(Orders.prototype, 'settled', Object.getOwnPropertyDescriptor(Orders.prototype, 'settled'));

/** @returns the payments of an application that runs, and its clock */
export async function startShop({ gateway, journal }, { storeUrl, ...options }, beforeWork = () => {}) {
  Object.assign(Orders, { journal, beforeWork });
  const clock = new MovedClock();
  const store = storeUrl && (await openStore(storeUrl, clock));
  class Shop {}
  const payment = PaymentModule.forRoot({
    ...gateway,
    dialect: 'morpos',
    callback: false,
    returnUrl: 'https://shop.example/{token}',
    failUrl: 'https://shop.example/{token}',
    ...(store && { store }),
    ...options,
  });
  Module({ imports: [payment], providers: [Orders] })(Shop);
  const module = await Test.createTestingModule({ imports: [Shop] })
    .overrideProvider(PaymentClock)
    .useValue(clock)
    .compile();
  await module.init();
  return { app: module, payments: module.get(PaymentService), clock };
}

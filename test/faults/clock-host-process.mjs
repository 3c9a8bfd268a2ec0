// A host of a shop, the built package in a process of its own. It does what its parent says.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnPayment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { serveTasks } from '../services/tasks.mjs';

const gateway = JSON.parse(process.argv[2]);

class Journal {
  events = [];

  paid({ eventId }) {
    this.events.push(eventId);
  }
}
Injectable()(Journal);
const paid = Object.getOwnPropertyDescriptor(Journal.prototype, 'paid');
OnPayment('succeeded', { id: 'journal' })(Journal.prototype, 'paid', paid);

let app;
let payments;
let warnings;

const quiet = () => undefined;
const logger = {
  ...{ log: quiet, error: quiet, debug: quiet, verbose: quiet, fatal: quiet },
  warn: (text) => warnings.push(String(text)),
};

serveTasks({
  /** Starts the application, in place of the one before. */
  serve: async (options) => {
    await app?.close();
    warnings = [];
    class Shop {}
    const payment = PaymentModule.forRoot({
      ...gateway,
      dialect: 'morpos',
      callback: false,
      returnUrl: 'https://shop.example/{token}',
      failUrl: 'https://shop.example/{token}',
      background: false,
      ...options,
    });
    Module({ imports: [payment], providers: [Journal] })(Shop);
    app = await NestFactory.createApplicationContext(Shop, { logger });
    payments = app.get(PaymentService);
    return null;
  },
  clock: () => [Date.now(), new Date().getTime(), Date.parse(Date())],
  warnings: () => warnings,
  start: async (sale) => (await payments.init3d(sale)).conversationId,
  pay: async (sale) => (await payments.doPayment(sale)).state,
  complete: async (callback) => (await payments.auth3d(callback)).state,
  stateOf: async (conversationId) => (await payments.find(conversationId))?.state ?? null,
  reconcile: () => payments.reconcile(),
  heard: () => app.get(Journal).events,
  end: () => app?.close(),
});

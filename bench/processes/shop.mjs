// One of the processes of a shop that share a store: Nest on Fastify with the built package and its callback.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { OnPayment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { serveTasks } from '../../test/rigs/tasks.mjs';

const { options, port, hasHandler } = JSON.parse(process.argv[2]);
const AT_ONCE = 8;

let handled = 0;

class Orders {
  paid() {
    handled += 1;
  }
}
const paid = Object.getOwnPropertyDescriptor(Orders.prototype, 'paid');
if (hasHandler) OnPayment('succeeded')(Orders.prototype, 'paid', paid);

class Shop {}
Module({ imports: [PaymentModule.forRoot(options)], providers: [Orders] })(Shop);
const app = await NestFactory.create(Shop, new FastifyAdapter(), { logger: ['error'] });
await app.listen(port, '127.0.0.1');
const payments = app.get(PaymentService);

let orders = 0;
const sale = () => ({
  reference: `order-${port}-${(orders += 1)}`,
  cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
  transactionDetails: { amount: '149.95', currencyCode: 949 },
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
});

/** Makes that many calls, a few at once. */
async function times(count, call) {
  let done = 0;
  const work = async () => {
    while (done < count) await call(done++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return null;
}

serveTasks({
  /** Starts that many 3D payments. */
  start: (count) => times(count, () => payments.init3d(sale())),
  /** Completes 3D payments, as the callback does. */
  complete: (callbacks) =>
    times(callbacks.length, async (i) => {
      const { conversationId } = callbacks[i];
      expectPaid(await payments.auth3d({ conversationId, fields: { conversationId, Code: 'B0000' } }));
    }),
  /** Makes that many direct payments. */
  pay: (count) => times(count, async () => expectPaid(await payments.doPayment(sale()))),
  /** The CPU time of this process so far, in milliseconds. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  handled: () => handled,
  end: () => app.close(),
});

function expectPaid({ state }) {
  if (state !== 'succeeded') throw new Error(`a payment is ${state}`);
}

// Makes one payment or refund and kills itself on the way, at a named point of its flow.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Auth3dDto } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { Agent } from 'undici';
import { startShop } from '../rigs/shop.js';
import { serveTasks } from '../rigs/tasks.mjs';
import { isRefundFlow, pageOf, refundOf, type RefundFlow, type Sale } from './attempt.js';
import type { Crash } from './crash-trial.js';
import { FLAWS } from './flawed-store.js';
import { ordersIn, type ShopSettings } from './shop.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export interface VictimSetup extends ShopSettings, Crash {
  readonly sale: Sale;
}

const { account, storeUrl, journal, flow, point, sale, flaw } = JSON.parse(process.argv[2]!) as VictimSetup;

/** Whether the events of a refund count, or those of its payment. */
const told = isRefundFlow(flow) ? 'refund' : 'payment';

/** Nothing kills while the payment is brought to where its flow begins. */
let isArmed = false;
let writes = 0;

function reached(name: string): void {
  if (isArmed && name === point) process.kill(process.pid, 'SIGKILL');
}

async function written<T>(write: () => Promise<T>): Promise<T> {
  if (!isArmed) return write();
  writes += 1;
  const name = writes === 1 ? 'opening write' : 'closing write';
  reached(`before the ${name}`);
  const outcome = await write();
  reached(`after the ${name}`);
  return outcome;
}

async function watchedStore(): Promise<PaymentStore> {
  const store = await openSqlStore(storeUrl);
  if (flaw) FLAWS[flaw](store, () => isArmed);
  const [insert, replace] = [store.insert.bind(store), store.replace.bind(store)];
  store.insert = (...given) => written(() => insert(...given));
  store.replace = (...given) => written(() => replace(...given));
  const acknowledge = store.acknowledge.bind(store);
  store.acknowledge = (...given) => {
    const isOfPayment = given[2].startsWith(`${sale.conversationId}:`);
    if (isOfPayment === (told === 'payment')) reached('after the handler');
    return acknowledge(...given);
  };
  return store;
}

const dispatcher = new Agent().compose((dispatch) => (request, handler) => {
  reached('before the request');
  return dispatch(request, {
    onRequestStart: (controller, context: unknown) => {
      handler.onRequestStart?.(controller, context);
      // By the next turn it is on the wire.
      void nextTurn().then(() => reached('after the request'));
    },
    onResponseStart: (...given) => {
      reached('before the reply');
      handler.onResponseStart?.(...given);
    },
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => {
      handler.onResponseEnd?.(...given);
      reached('after the reply');
    },
    onResponseError: (...given) => handler.onResponseError?.(...given),
  });
});

const { payments } = await startShop({
  options: { ...account, store: await watchedStore(), dispatcher },
  providers: [ordersIn(journal, (of) => void (of === told && reached('before the handler')))],
});

async function run(pay: () => Promise<unknown>): Promise<null> {
  isArmed = true;
  await pay();
  // The payment's answer does not wait for its handlers where the machine is busy.
  if (point.endsWith(' the handler')) await delay(30_000);
  return null;
}

/** The payment whose money is given back; nothing kills before that. */
async function giveBack(by: RefundFlow): Promise<null> {
  await payments.doPayment(sale);
  return run(() => payments[by](refundOf(sale, by)));
}

serveTasks({
  direct: () => run(() => payments.doPayment(sale)),
  init3d: () => run(() => payments.init3d(sale)),
  /** The buyer goes to the bank; nothing kills on the way there. */
  sendToBank: () => payments.init3d(sale).then(() => null),
  auth3d: (fields: Auth3dDto['fields']) => run(() => payments.auth3d({ conversationId: sale.conversationId, fields })),
  hosted: () => run(() => payments.startHosted(pageOf(sale))),
  refund: () => giveBack('refund'),
  void: () => giveBack('void'),
  recordRefund: () => giveBack('recordRefund'),
});

// Makes payments and refunds at once. Each goes no further than its point, a named place in its flow; when all have come
// to theirs, the process kills itself.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Auth3dDto } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { Agent } from 'undici';
import { startShop } from '../rigs/shop.js';
import { serveTasks } from '../rigs/tasks.mjs';
import { type Attempt, type Crash, isRefundFlow, pageOf, refundOf } from './attempt.js';
import { ordersIn, type ShopSettings } from './shop.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export interface VictimSetup extends ShopSettings {
  readonly attempts: readonly Attempt[];
}

const { account, storeUrl, journal, attempts } = JSON.parse(process.argv[2]!) as VictimSetup;

class Victim {
  /** Nothing stops it while it is brought to where its flow begins. */
  isArmed = false;
  isStopped = false;
  writes = 0;

  constructor(readonly attempt: Attempt) {}

  /** @returns whether it goes no further */
  isStoppedAt(point: Crash['point']): boolean {
    if (this.isArmed && !this.isStopped && point === this.attempt.point) {
      this.isStopped = true;
      if (victims.every(({ isStopped }) => isStopped)) process.kill(process.pid, 'SIGKILL');
    }
    return this.isStopped;
  }

  async pass(point: Crash['point']): Promise<void> {
    if (this.isStoppedAt(point)) await forever;
  }
}

const forever = new Promise<never>(() => undefined);
const victims = attempts.map((attempt) => new Victim(attempt));
/** Whose flow it is that writes or sends something. */
const current = new AsyncLocalStorage<Victim>();
/** Whose events these are: of a refund, not of its payment. */
const byId = new Map(
  victims.map((victim) => {
    const { sale, flow } = victim.attempt;
    return [isRefundFlow(flow) ? refundOf(sale, flow).refundId : sale.conversationId, victim];
  }),
);
const victimOf = (eventId: string): Victim | undefined => byId.get(eventId.split(':')[0]);

async function written<T>(write: () => Promise<T>): Promise<T> {
  const victim = current.getStore();
  if (!victim?.isArmed) return write();
  victim.writes += 1;
  const name = victim.writes === 1 ? 'opening write' : 'closing write';
  await victim.pass(`before the ${name}`);
  const outcome = await write();
  await victim.pass(`after the ${name}`);
  return outcome;
}

async function watchedStore(): Promise<PaymentStore> {
  const store = await openSqlStore(storeUrl);
  const [insert, replace] = [store.insert.bind(store), store.replace.bind(store)];
  store.insert = (...given) => written(() => insert(...given));
  store.replace = (...given) => written(() => replace(...given));
  const acknowledge = store.acknowledge.bind(store);
  store.acknowledge = async (...given) => {
    await victimOf(given[2])?.pass('after the handler');
    return acknowledge(...given);
  };
  return store;
}

const dispatcher = new Agent().compose((dispatch) => (request, handler) => {
  const victim = current.getStore();
  if (victim?.isStoppedAt('before the request')) return true;
  return dispatch(request, {
    onRequestStart: (controller, context: unknown) => {
      handler.onRequestStart?.(controller, context);
      // By the next turn it is on the wire.
      void nextTurn().then(() => victim?.isStoppedAt('after the request'));
    },
    onResponseStart: (...given) => {
      if (!victim?.isStoppedAt('before the reply')) handler.onResponseStart?.(...given);
    },
    onResponseData: (...given) => {
      if (!victim?.isStopped) handler.onResponseData?.(...given);
    },
    onResponseEnd: (...given) => {
      if (victim?.isStopped) return;
      handler.onResponseEnd?.(...given);
      victim?.isStoppedAt('after the reply');
    },
    onResponseError: (...given) => {
      if (!victim?.isStopped) handler.onResponseError?.(...given);
    },
  });
});

const { payments } = await startShop({
  options: { ...account, store: await watchedStore(), dispatcher, maxInFlight: 0 },
  providers: [ordersIn(journal, (eventId) => victimOf(eventId)?.pass('before the handler'))],
});

/** What comes before the flow: the buyer goes to the bank, or pays what is given back. */
async function prepare({ attempt: { flow, sale } }: Victim): Promise<void> {
  if (flow === 'auth3d') await payments.init3d(sale);
  else if (isRefundFlow(flow)) await payments.doPayment(sale);
}

function start({ flow, sale }: Attempt, fields: Auth3dDto['fields']): Promise<unknown> {
  if (isRefundFlow(flow)) return payments[flow](refundOf(sale, flow));
  switch (flow) {
    case 'direct':
      return payments.doPayment(sale);
    case 'init3d':
      return payments.init3d(sale);
    case 'auth3d':
      return payments.auth3d({ conversationId: sale.conversationId, fields });
    case 'hosted':
      return payments.startHosted(pageOf(sale));
  }
}

/** @returns what is wrong: that it did not come to its point */
async function run(victim: Victim, fields: Auth3dDto['fields']): Promise<string> {
  const { flow, point } = victim.attempt;
  victim.isArmed = true;
  await start(victim.attempt, fields);
  // The payment's answer does not wait for its handlers where the machine is busy.
  if (point.endsWith(' the handler')) await delay(30_000);
  return `${flow}, ${point}: it got to the end`;
}

serveTasks({
  prepare: () => Promise.all(victims.map(prepare)).then(() => null),
  /** @param callbacks what the bank sent, by conversationId */
  run: (callbacks: Readonly<Record<string, Auth3dDto['fields']>>) =>
    Promise.race(
      victims.map((victim) =>
        current.run(victim, () => run(victim, callbacks[victim.attempt.sale.conversationId] ?? {})),
      ),
    ),
});

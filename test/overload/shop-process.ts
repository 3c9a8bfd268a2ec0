// A shop, with the built package, in a process of its own, in which many payments run at once. It measures how long its
// event loop was blocked meanwhile.
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type DoPaymentDto, MemoryPaymentStore, OnPayment, type PaymentOptions } from 'nestjs-card-payment';
import { startShop } from '../rigs/shop.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { serveTasks } from '../rigs/tasks.mjs';
import { LoopWatch } from './loop-watch.js';

export interface ShopSetup {
  readonly account: PaymentOptions;
  /** How long each write takes, as in a store on the far side of a slow network. */
  readonly storeDelayMs: number;
  /** How long one handler blocks the loop: what the watch has to find. */
  readonly plantedBlockMs: number;
}

/** Payments at once: how many, and of what. */
export interface Load {
  readonly count: number;
  readonly sale: DoPaymentDto;
}

export interface Measured {
  /** How many payments ended in each way. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The longest that the event loop was blocked. */
  readonly blockedMs: number;
}

const { account, storeDelayMs, plantedBlockMs } = JSON.parse(process.argv[2]!) as ShopSetup;

let hasBlocked = false;

@Injectable()
class Orders {
  @OnPayment('succeeded', { id: 'orders' })
  paid(): void {
    if (hasBlocked || plantedBlockMs === 0) return;
    hasBlocked = true;
    const end = performance.now() + plantedBlockMs;
    while (performance.now() < end);
  }
}

const memory = new MemoryPaymentStore();
const slow = interceptCalls(memory, async ({ method, proceed }) => {
  if (method === 'insert' || method === 'replace') await delay(storeDelayMs);
  return proceed();
});
const { app, payments } = await startShop({
  options: { ...account, store: storeDelayMs > 0 ? slow : memory },
  providers: [Orders],
});

/** Makes as many payments at once, each begun in a turn of its own, as requests arrive at a server. */
async function pay({ count, sale }: Load): Promise<Measured> {
  hasBlocked = false;
  const watch = new LoopWatch();
  watch.start();
  const running = [];
  for (let number = 0; number < count; number += 1) {
    running.push(payments.doPayment({ ...sale, reference: `order-${performance.now()}-${number}` }));
    await nextTurn();
  }
  const outcomes: Record<string, number> = {};
  for (const { state, reason } of await Promise.all(running)) {
    const outcome = reason === null ? state : `${state}, ${reason}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return { outcomes, blockedMs: watch.stop() };
}

serveTasks({ pay, end: () => app.close() });

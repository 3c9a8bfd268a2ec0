import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisPaymentStore } from 'nestjs-card-payment/redis';
import { TestClock } from 'nestjs-card-payment/testing';
import { refundsAccountOf } from '../../../lib/payment/account.js';
import { startRedis, type RedisServer } from '../../services/redis.js';
import { until } from '../../services/until.js';
import { spyOnLogger } from './logged.js';
import { settled } from './records.js';

const MANY = 50_000;
const FEW = 500;
const HOUR_MS = 3_600_000;
/** For all the steps of a long backlog. */
const MAX_STEPS_MS = 60_000;
const WORK = 'work';
const PAIR = { handlerId: 'Orders.paid', type: 'payment.succeeded' } as const;

let server: RedisServer;
let client: Redis;

describe('bounded work', () => {
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url, { enableAutoPipelining: true });
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });
  beforeEach(() => {
    spyOnLogger();
  });

  /** A store in which so many events wait for a handler, and how much work its calls are. */
  class Backlog {
    readonly clock = new TestClock();
    private readonly store = new RedisPaymentStore(client, { clock: this.clock });
    private readonly works: number[] = [];
    private readonly counted = new RedisPaymentStore(counting(this.works), { clock: this.clock });

    static async of(events: number): Promise<Backlog> {
      await client.flushall();
      const backlog = new Backlog();
      for (let done = 0; done < events; done += FEW) {
        await Promise.all(Array.from({ length: FEW }, () => backlog.store.insert(...settled())));
      }
      return backlog;
    }

    /** Commands and elements that each script of the call takes. */
    async worksOf(call: (store: RedisPaymentStore) => Promise<unknown>): Promise<number[]> {
      this.works.length = 0;
      await call(this.counted);
      return [...this.works];
    }

    lease(store: RedisPaymentStore, limit: number) {
      const { handlerId, type } = PAIR;
      const request = { account: 'default', handlerId, types: [type], lease: `${Math.random()}`, leaseMs: HOUR_MS };
      return store.leaseDeliveries({ ...request, limit });
    }

    /** A settled payment with so many settled refunds. */
    async insertRefunded(refunds: number): Promise<void> {
      const [payment] = settled();
      await this.store.insert(payment);
      const refund = { ...payment, account: refundsAccountOf(payment.account), kind: 'refund' } as const;
      const { conversationId: reference } = payment;
      const ids = Array.from({ length: refunds }, (_, number) => `${reference}R${number}`);
      await Promise.all(
        ids.map((id) => this.store.insert({ ...refund, conversationId: id, reference, referenceLock: null })),
      );
    }

    async fanOutAll(): Promise<void> {
      await this.store.announce('default', [PAIR]);
      await until(async () => (await this.store.fanOut('default', 1_000)) === 0, MAX_STEPS_MS);
    }

    async leaseAll(): Promise<void> {
      await until(async () => (await this.lease(this.store, 1_000)).length === 0, MAX_STEPS_MS);
    }

    /** What each call of a running shop takes, as long as `events` wait, are due, or are put off. */
    async figures(): Promise<Record<string, number[]>> {
      const waiting = {
        write: await this.worksOf((store) => store.insert(...settled())),
        announce: await this.worksOf((store) => store.announce('default', [PAIR])),
        'fan out': await this.worksOf((store) => store.fanOut('default', 100)),
        counts: await this.worksOf((store) => store.counts('default')),
      };
      await this.fanOutAll();
      const due = {
        'lease of what is due': await this.worksOf((store) => this.lease(store, 10)),
        'nothing to fan out': await this.worksOf((store) => store.fanOut('default', 100)),
      };
      await this.leaseAll();
      await this.store.insert(...settled());
      await this.store.fanOut('default', 100);
      return {
        ...waiting,
        ...due,
        'lease beside what is put off': await this.worksOf((store) => this.lease(store, 10)),
        'lease of nothing': await this.worksOf((store) => this.lease(store, 10)),
      };
    }
  }

  describe(`${MANY} events that wait, are due or are put off`, () => {
    test('make no call more work than few do', async () => {
      const few = await (await Backlog.of(FEW)).figures();
      const many = await (await Backlog.of(MANY)).figures();
      expect(many).toEqual(few);
      expect(many.announce).toEqual([1]);
      expect(many['fan out']![0]).toBeLessThan(100 * 20);
      expect(many['lease of nothing']![0]).toBeLessThan(10);
    }, 120_000);
  });

  describe('a purge', () => {
    test('goes by steps of bounded work', async () => {
      const backlog = await Backlog.of(2_000);
      await backlog.fanOutAll();
      backlog.clock.set(new Date(backlog.clock.now().getTime() + HOUR_MS));
      const works = await backlog.worksOf((store) => store.purge('default', { paymentsMs: 1, pairsMs: 1, keysMs: 1 }));
      expect(await client.keys('*')).toEqual([]);
      expect(works.length).toBeGreaterThanOrEqual(2 * (2_000 / 200));
      expect(Math.max(...works)).toBeLessThan(200 * 30);
    });

    test('goes by steps of bounded work where payments have many refunds, too', async () => {
      await client.flushall();
      const backlog = new Backlog();
      for (let number = 0; number < 20; number += 1) await backlog.insertRefunded(50);
      backlog.clock.set(new Date(backlog.clock.now().getTime() + HOUR_MS));
      const purge = (store: RedisPaymentStore) =>
        store.purge('default', { paymentsMs: 1, pairsMs: 1, keysMs: HOUR_MS });
      const works = await backlog.worksOf(async (store) => expect((await purge(store)).payments).toBe(20));
      expect(await client.keys('*')).toEqual([]);
      expect(works.length).toBeGreaterThanOrEqual((20 * 50) / 200);
      expect(Math.max(...works)).toBeLessThan((200 + 50) * 30);
    });
  });
});

/** Counts, in Redis, each command that a script runs and each element that one gives it: one number a script. */
function counting(works: number[]): Redis {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'evalsha') return () => Promise.reject(new Error('NOSCRIPT'));
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...given: unknown[]) => unknown;
      if (name !== 'eval') return method;
      const count = `
        local call = function(...)
          local reply = redis.call(...)
          redis.call('INCRBY', '${WORK}', 1 + (type(reply) == 'table' and #reply or 0))
          return reply
        end`;
      return async (lua: string, ...given: unknown[]) => {
        await client.del(WORK);
        const reply = await method(lua.replace('local call = redis.call', count), ...given);
        works.push(Number(await client.getdel(WORK)));
        return reply;
      };
    },
  });
}

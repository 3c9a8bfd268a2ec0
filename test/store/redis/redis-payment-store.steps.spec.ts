import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisPaymentStore } from 'nestjs-card-payment/redis';
import { refundsAccountOf } from '../../../lib/payment/account.js';
import { MAX_PURGE_MS } from '../../../lib/store/payment-store.js';
import { eventToJson } from '../../../lib/store/record-json.js';
import { aPaymentEvent } from '../../../lib/testing/index.js';

const ACCOUNT = 'default';
const RETENTION = { paymentsMs: 1, pairsMs: 2, keysMs: 3 };
const LEASE = {
  account: ACCOUNT,
  handlerId: 'h',
  types: ['payment.failed'],
  lease: 'l',
  leaseMs: 9,
  limit: 1,
} as const;
/** As the scripts answer: a lease that found nothing, but might further on. */
const LOOK_ON = [[], 1];

/** What the scripts answer, one call after the other; the last one again and again. */
let replies: unknown[];
/** What they were given, by name. */
let given: Record<string, unknown>[];
/** By `performance.now`; each step of a script takes as long. */
let nowMs: number;
let stepMs: number;
let store: RedisPaymentStore;

describe('redis payment store steps', () => {
  beforeEach(() => {
    [replies, given, nowMs, stepMs] = [[], [], 0, 0];
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const evalsha = (_digest: string, _keys: number, _key: string, ...values: unknown[]) => {
      nowMs += stepMs;
      const named = values.flatMap((name, index) => (index % 2 ? [] : [[String(name), values[index + 1]] as const]));
      given.push(Object.fromEntries(named));
      return given.length > 100 ? Promise.reject(new Error('goes on')) : Promise.resolve(replies.shift() ?? LOOK_ON);
    };
    store = new RedisPaymentStore({ status: 'end', evalsha } as unknown as Redis);
  });

  describe('a lease', () => {
    test('looks on while it finds nothing but what is held up, twenty times at most', async () => {
      expect(await store.leaseDeliveries(LEASE)).toEqual([]);
      expect(given).toHaveLength(20);
    });

    test('ends with what it has found, however much there may be', async () => {
      const event = aPaymentEvent({ state: 'failed' });
      replies = [LOOK_ON, [[['h', '{"attempts":2,"parked":false,"dueAt":7}', eventToJson(event)]], 1]];
      expect(await store.leaseDeliveries(LEASE)).toEqual([
        { account: ACCOUNT, handlerId: 'h', event, attempts: 2, parked: false, error: null, dueAt: new Date(7) },
      ]);
      expect(given).toHaveLength(2);
    });

    test('ends when there is no more', async () => {
      replies = [LOOK_ON, [[], 0]];
      expect(await store.leaseDeliveries(LEASE)).toEqual([]);
      expect(given).toHaveLength(2);
    });
  });

  describe('a purge', () => {
    test('takes step after step while there is time, and skips the payments that have to stay', async () => {
      replies = [1, 1, 0, 1, 0, [200, 150, 300, 1], [200, 0, 0, 1], [10, 10, 5, 0]];
      stepMs = 600;
      expect(await store.purge(ACCOUNT, RETENTION)).toEqual({ payments: 160, events: 305 });
      expect(given.map(({ limit }) => limit)).toEqual(Array(8).fill(200));
      expect(given.slice(0, 3).map(({ pairsMs }) => pairsMs)).toEqual([2, 2, 2]);
      expect(given.slice(3, 5).map(({ keysMs }) => keysMs)).toEqual([3, 3]);
      expect(given.slice(5).map(({ paymentsMs, skip }) => [paymentsMs, skip])).toEqual([
        [1, 0],
        [1, 50],
        [1, 250],
      ]);
    });

    test.each([
      ['pairs', [1, 0, [0, 0, 0, 0]]],
      ['keys', [0, 1, [0, 0, 0, 0]]],
      ['payments', [0, 0, [200, 0, 0, 1]]],
    ])('that has no time for all %s says that there is more', async (_what, answers) => {
      replies = [...answers];
      stepMs = MAX_PURGE_MS;
      expect(await store.purge(ACCOUNT, RETENTION)).toEqual({ payments: 0, events: 0, hasMore: true });
      expect(given).toHaveLength(3);
    });

    test('goes on behind the payments that it has passed, of each account, and begins anew once it has seen all', async () => {
      stepMs = MAX_PURGE_MS;
      const skipped = async (account: string, looked: number, deleted: number, hasMore: 0 | 1) => {
        replies = [0, 0, [looked, deleted, 0, hasMore]];
        given = [];
        await store.purge(account, RETENTION);
        return given[2]!.skip;
      };
      expect(await skipped(ACCOUNT, 200, 50, 1)).toBe(0);
      expect(await skipped('other', 200, 0, 1)).toBe(0);
      expect(await skipped(ACCOUNT, 20, 0, 1)).toBe(150);
      expect(await skipped(ACCOUNT, 100, 0, 0)).toBe(170);
      expect(await skipped(ACCOUNT, 0, 0, 0)).toBe(0);
    });

    test.each([
      ['payments where they have no end', ACCOUNT, null],
      ['refunds, which go with their payments', refundsAccountOf(ACCOUNT), 1],
    ])('keeps all %s', async (_what, account, paymentsMs) => {
      replies = [0, 0];
      expect(await store.purge(account, { ...RETENTION, paymentsMs })).toEqual({ payments: 0, events: 0 });
      expect(given).toHaveLength(2);
    });
  });

  describe('where the store must exist', () => {
    beforeEach(() => {
      const evalsha = () => Promise.resolve(replies.shift());
      const config = () => Promise.reject(new Error('not shown'));
      store = new RedisPaymentStore({ status: 'end', evalsha, config } as unknown as Redis, { mustExist: true });
    });

    test.each([
      [
        'none',
        ['0', '0'],
        'There is no payment store in this Redis database: the application makes it when it starts.',
      ],
      [
        'an older one',
        ['-1', '-1'],
        'The Redis store is of schema -1, and this release of nestjs-card-payment needs 1: ' +
          'the application updates it when it starts.',
      ],
    ])('%s is refused', async (_what, schema, message) => {
      replies = [schema];
      await expect(store.open()).rejects.toThrow(new Error(message));
    });
  });

  test('a prefix that begins with a brace is refused', () => {
    expect(() => new RedisPaymentStore({} as Redis, { prefix: '{a' })).toThrow('text without braces');
  });

  test('a client that says nothing can be replaced', async () => {
    let silences = 0;
    class Listening extends RedisPaymentStore {
      protected override onSilence(): void {
        silences += 1;
      }
    }
    const silent = { status: 'ready', evalsha: () => new Promise(() => undefined) } as unknown as Redis;
    const call = new Listening(silent, { timeoutMs: 20 }).find(ACCOUNT, 'id');
    await expect(call).rejects.toThrow('Redis gave no answer in 20 ms: silent');
    expect(silences).toBe(1);
  });
});

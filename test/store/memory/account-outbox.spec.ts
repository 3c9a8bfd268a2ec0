import { inspect } from 'node:util';
import { AccountOutbox } from '../../../lib/store/memory/account-outbox.js';
import { PAIR_ALIVE_MS } from '../../../lib/store/payment-store.js';
import { aPaymentEvent } from '../../../lib/testing/index.js';
import { cpuMs } from '../../rigs/cpu-time.js';

const NOW = new Date('2026-03-02T10:00:00Z');
const PAIR = { handlerId: 'Orders.paid', type: 'payment.succeeded' } as const;
const REQUEST = { account: 'default', handlerId: 'Orders.paid', types: ['payment.succeeded'], lease: 'L' } as const;

test('nothing of a payment is kept once its deliveries are acknowledged and its events deleted', () => {
  const outbox = new AccountOutbox('default');
  outbox.announce([PAIR], NOW);
  for (const version of [1, 2]) outbox.add(aPaymentEvent({ conversationId: 'Conversation', version }));
  expect(outbox.fanOut(1, NOW)).toBe(2);
  outbox.add(aPaymentEvent({ conversationId: 'Conversation', version: 3 }));
  for (const version of [1, 2]) outbox.acknowledge(PAIR.handlerId, `Conversation:${version}`);
  expect(outbox.isBusyWith('Conversation')).toBe(true);
  expect(outbox.deleteEvents('Conversation')).toBe(3);
  expect(outbox.isBusyWith('Conversation')).toBe(false);
  expect(inspect(outbox, { depth: 9 })).not.toContain('Conversation');
});

test('a payment whose deliveries are all parked is busy', () => {
  const outbox = new AccountOutbox('default');
  outbox.announce([PAIR], NOW);
  outbox.add(aPaymentEvent({ conversationId: 'C', version: 1 }));
  outbox.fanOut(1, NOW);
  const [delivery] = outbox.lease({ ...REQUEST, leaseMs: 1_000, limit: 1 }, NOW);
  const held = { ...REQUEST, eventId: delivery!.event.eventId };
  outbox.postpone(held, { attempts: 1, error: 'E', retryInMs: 0, parked: true }, NOW);
  expect([outbox.isBusyWith('C'), outbox.isBusyWith('D')]).toEqual([true, false]);
});

test('a fan-out does not look at a long backlog of types that no handler takes', () => {
  const outbox = new AccountOutbox('default');
  for (let number = 0; number < 20_000; number += 1) {
    outbox.add(aPaymentEvent({ state: 'expired', conversationId: `C${number}` }));
  }
  outbox.announce([PAIR], NOW);
  const began = cpuMs();
  let fannedOut = 0;
  for (let round = 0; round < 500; round += 1) {
    outbox.add(aPaymentEvent({ conversationId: `D${round}` }));
    fannedOut += outbox.fanOut(100, NOW);
  }
  expect(fannedOut).toBe(500);
  // Looking at each of them takes many seconds.
  expect(cpuMs() - began).toBeLessThan(2_000);
  expect(outbox.counts(NOW).waitingEvents).toBe(20_000);
});

test('a long backlog of one type does not delay the events of another', () => {
  const outbox = new AccountOutbox('default');
  outbox.announce([PAIR, { ...PAIR, type: 'payment.failed' }], NOW);
  for (let number = 0; number < 100; number += 1) outbox.add(aPaymentEvent({ conversationId: `C${number}` }));
  outbox.add(aPaymentEvent({ state: 'failed', conversationId: 'Late' }));
  expect(outbox.fanOut(2, NOW)).toBe(2);
  const request = { ...REQUEST, types: ['payment.failed'], leaseMs: 1_000, limit: 1 } as const;
  expect(outbox.lease(request, NOW)).toHaveLength(1);
  expect([outbox.fanOut(200, NOW), outbox.fanOut(200, NOW)]).toEqual([99, 0]);
});

test('a type that nothing waits of takes no place of a fan-out from another', () => {
  const outbox = new AccountOutbox('default');
  outbox.announce([{ ...PAIR, type: 'payment.failed' }, PAIR], NOW);
  for (let number = 0; number < 3; number += 1) outbox.add(aPaymentEvent({ conversationId: `C${number}` }));
  expect([outbox.fanOut(2, NOW), outbox.fanOut(2, NOW)]).toEqual([2, 1]);
});

test('a pair is alive for less than ten minutes, and is not forgotten at the last moment that it may be known', () => {
  const outbox = new AccountOutbox('default');
  outbox.announce([PAIR], NOW);
  outbox.add(aPaymentEvent());
  outbox.fanOut(1, NOW);
  const after = (ms: number) => new Date(NOW.getTime() + ms);
  const orphans = [PAIR_ALIVE_MS - 1, PAIR_ALIVE_MS].map((ms) => outbox.counts(after(ms)).orphanedDeliveries);
  expect(orphans).toEqual([0, 1]);
  outbox.forgetPairs(NOW);
  expect(outbox.counts(NOW).openDeliveries).toBe(1);
  outbox.forgetPairs(after(1));
  expect(outbox.counts(NOW).openDeliveries).toBe(0);
});

test('a later version puts no payment behind others that are due at the same time', () => {
  const outbox = new AccountOutbox('default');
  outbox.announce([PAIR], NOW);
  const add = (conversationId: string, version: number) => {
    outbox.add(aPaymentEvent({ conversationId, version }));
    outbox.fanOut(1, NOW);
  };
  for (const conversationId of ['C', 'D']) add(conversationId, 1);
  add('C', 2);
  const leased = outbox.lease({ ...REQUEST, leaseMs: 1_000, limit: 2 }, NOW);
  expect(leased.map(({ event }) => event.eventId)).toEqual(['C:1', 'D:1']);
});

describe('beside a delivery whose pair is no longer announced', () => {
  const FAILED = { ...PAIR, type: 'payment.failed' } as const;
  const ORPHANED = new Date(NOW.getTime() + PAIR_ALIVE_MS);
  let outbox: AccountOutbox;

  const add = (conversationId: string, state: 'failed' | 'succeeded', version = 1) => {
    outbox.add(aPaymentEvent({ conversationId, version, state }));
    outbox.fanOut(1, NOW);
  };
  const leaseAll = (limit: number) =>
    outbox.lease({ ...REQUEST, leaseMs: 1_000, limit }, ORPHANED).map(({ event }) => event.eventId);

  beforeEach(() => {
    outbox = new AccountOutbox('default');
    outbox.announce([PAIR, FAILED], NOW);
    add('Orphan', 'failed');
    outbox.announce([PAIR], ORPHANED);
  });

  test('a later version comes, though another payment waits for nothing', () => {
    add('Orphan', 'succeeded', 2);
    add('Other', 'succeeded');
    expect(leaseAll(9).sort()).toEqual(['Orphan:2', 'Other:1']);
  });

  test('the longest due come first, up to the limit, and one at the moment at which it is due', () => {
    for (const conversationId of ['C', 'D', 'E']) add(conversationId, 'succeeded');
    const putOff = (conversationId: string, retryInMs: number) =>
      outbox.postpone(
        { ...REQUEST, eventId: `${conversationId}:1` },
        { attempts: 1, error: 'E', retryInMs, parked: false },
        NOW,
      );
    outbox.lease({ ...REQUEST, leaseMs: 1, limit: 9 }, NOW);
    putOff('C', PAIR_ALIVE_MS);
    putOff('D', PAIR_ALIVE_MS - 1);
    putOff('E', PAIR_ALIVE_MS + 1);
    expect([leaseAll(1), leaseAll(9)]).toEqual([['D:1'], ['C:1']]);
  });
});

test('a lease does not look at many deliveries that are postponed', () => {
  const outbox = new AccountOutbox('default');
  const lease = { ...REQUEST, leaseMs: 1_000_000, limit: 20_000 };
  outbox.announce([PAIR], NOW);
  for (let number = 0; number < 20_000; number += 1) outbox.add(aPaymentEvent({ conversationId: `C${number}` }));
  outbox.fanOut(20_000, NOW);
  expect(outbox.lease(lease, NOW)).toHaveLength(20_000);
  const began = cpuMs();
  let again = 0;
  for (let round = 0; round < 5_000; round += 1) again += outbox.lease(lease, NOW).length;
  expect(again).toBe(0);
  // Looking at each of them takes many seconds.
  expect(cpuMs() - began).toBeLessThan(2_000);
});

test('a lease holds no text of its holder in what it gives out', () => {
  const outbox = new AccountOutbox('default');
  outbox.announce([PAIR], NOW);
  outbox.add(aPaymentEvent());
  outbox.fanOut(1, NOW);
  const [delivery] = outbox.lease({ ...REQUEST, leaseMs: 1_000, limit: 1 }, NOW);
  expect(Object.keys(delivery!).sort()).toEqual(
    ['account', 'attempts', 'dueAt', 'error', 'event', 'handlerId', 'parked'].sort(),
  );
});

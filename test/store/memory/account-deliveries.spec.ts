import { inspect } from 'node:util';
import { AccountDeliveries } from '../../../lib/store/memory/account-deliveries.js';
import { aPaymentEvent } from '../../../lib/testing/index.js';

const NOW = new Date('2026-03-02T10:00:00Z');
const PAIR = { handlerId: 'Orders.paid', type: 'payment.succeeded' } as const;
const REQUEST = { account: 'default', handlerId: 'Orders.paid', types: ['payment.succeeded'], lease: 'L' } as const;

test('nothing of a payment is held once its deliveries are acknowledged and its events deleted', () => {
  const deliveries = new AccountDeliveries();
  deliveries.announce([PAIR], NOW);
  for (const version of [1, 2]) deliveries.add(aPaymentEvent({ conversationId: 'Conversation', version }));
  expect(deliveries.fanOut(1, NOW)).toBe(2);
  deliveries.add(aPaymentEvent({ conversationId: 'Conversation', version: 3 }));
  for (const version of [1, 2]) deliveries.acknowledge(PAIR.handlerId, `Conversation:${version}`);
  expect(deliveries.isBusyWith('Conversation')).toBe(true);
  expect(deliveries.deleteEvents('Conversation')).toBe(3);
  expect(deliveries.isBusyWith('Conversation')).toBe(false);
  expect(inspect(deliveries, { depth: 9 })).not.toContain('Conversation');
});

test('a payment whose every delivery is parked is held back', () => {
  const deliveries = new AccountDeliveries();
  deliveries.announce([PAIR], NOW);
  deliveries.add(aPaymentEvent({ conversationId: 'C', version: 1 }));
  deliveries.fanOut(1, NOW);
  const [delivery] = deliveries.lease({ ...REQUEST, leaseMs: 1_000, limit: 1 }, NOW);
  const held = { ...REQUEST, eventId: delivery!.event.eventId };
  deliveries.postpone(held, { attempts: 1, error: 'E', retryInMs: 0, parked: true }, NOW);
  expect([deliveries.isBusyWith('C'), deliveries.isBusyWith('D')]).toEqual([true, false]);
});

test('a fan-out passes over a long backlog of types that nobody takes without looking at it', () => {
  const deliveries = new AccountDeliveries();
  for (let number = 0; number < 20_000; number += 1) {
    deliveries.add(aPaymentEvent({ state: 'expired', conversationId: `C${number}` }));
  }
  deliveries.announce([PAIR], NOW);
  const began = performance.now();
  for (let round = 0; round < 500; round += 1) {
    deliveries.add(aPaymentEvent({ conversationId: `D${round}` }));
    expect(deliveries.fanOut(100, NOW)).toBe(1);
  }
  // Looking at each of them takes many seconds.
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(deliveries.counts(NOW).waitingEvents).toBe(20_000);
});

test('a lease holds no text of its holder in what it gives out', () => {
  const deliveries = new AccountDeliveries();
  deliveries.announce([PAIR], NOW);
  deliveries.add(aPaymentEvent());
  deliveries.fanOut(1, NOW);
  const [delivery] = deliveries.lease({ ...REQUEST, leaseMs: 1_000, limit: 1 }, NOW);
  expect(Object.keys(delivery!).sort()).toEqual(
    ['account', 'attempts', 'dueAt', 'error', 'event', 'handlerId', 'parked'].sort(),
  );
});

import { at, type StoreTrial } from './contract/store-trial.js';

/** Makes one call of the store, under a name. */
export type Call = <T>(name: (typeof CALLS)[number], call: () => Promise<T>) => Promise<T>;

/** What a payment's life asks of a store. */
export const CALLS = ['open', 'find', 'claim', 'settle', 'fan out', 'lease', 'acknowledge', 'pin'] as const;

/**
 * One payment's life, from its opening to the acknowledgement of its event.
 *
 * @param handler takes `payment.succeeded`; the payment's keys are named after it
 */
export async function livePayment(trial: StoreTrial, handler: string, call: Call): Promise<void> {
  const { store, account } = trial;
  const opened = trial.record({
    tokenHash: handler,
    idempotencyKey: handler,
    reference: handler,
    hostIdNonce: '000123456789',
  });
  await call('open', () => store.insert(opened));
  expect(await call('find', () => store.findByTokenHash(account, handler))).toEqual(opened);
  const claimed = await call('claim', () => trial.replace(opened, { state: 'authorizing', referenceLock: handler }));
  const { event } = await call('settle', () => trial.publish(claimed, 'succeeded', at(1)));
  await call('fan out', () => trial.fanOut());
  const leased = await call('lease', () => trial.lease(handler));
  expect(leased.map((delivery) => delivery.event.eventId)).toEqual([event.eventId]);
  await call('acknowledge', () => store.acknowledge(account, handler, event.eventId));
  const late = await trial.insert({ state: 'failed', reference: handler });
  await call('pin', () => trial.replace(late, { state: 'review', pinsReference: true }));
  expect(await trial.lease(handler)).toEqual([]);
}

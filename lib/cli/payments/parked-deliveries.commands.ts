import { refundsAccountOf } from '../../payment/account.js';
import type { Delivery } from '../../store/payment-outbox.js';
import { command, CommandFailedError, LIMIT_OPTION, limitOf, STORE_OPTIONS } from '../command.js';
import { type AccountStore, withAccountStore } from './account-store.js';

export const parkedDeliveriesCommand = command({
  name: 'payments parked',
  summary: 'Lists the events whose handler kept failing.',
  words: [],
  options: { ...LIMIT_OPTION, ...STORE_OPTIONS },
  run(call) {
    const limit = limitOf(call.values.limit);
    return withAccountStore(call, async (opened) => {
      const found = await parkedIn(opened, limit + 1);
      const hasMore = found.length > limit;
      const deliveries = found.slice(0, limit).map(shownOf);
      const lines = [...deliveries.map(lineOf), ...(hasMore ? ['  … and more: see --limit'] : [])];
      return {
        text: deliveries.length === 0 ? 'Nothing is parked.' : lines.join('\n'),
        json: { account: opened.account, deliveries, hasMore },
      };
    });
  },
});

/** Those of payments and of refunds, the oldest event first. */
async function parkedIn({ store, account }: AccountStore, limit: number): Promise<Delivery[]> {
  const parked = [
    ...(await store.listParked(account, limit)),
    ...(await store.listParked(refundsAccountOf(account), limit)),
  ];
  return parked.sort((a, b) => a.event.occurredAt.getTime() - b.event.occurredAt.getTime()).slice(0, limit);
}

function shownOf({ handlerId, event, attempts, error }: Delivery) {
  const { eventId, type, occurredAt } = event;
  const { conversationId } = event.payment;
  const refundId = 'refund' in event ? event.refund.refundId : null;
  return { handlerId, eventId, type, conversationId, refundId, occurredAt, attempts, error };
}

function lineOf({ handlerId, eventId, type, attempts, error }: ReturnType<typeof shownOf>): string {
  return `  ${handlerId}  ${eventId}  ${type}  failed ${attempts} times: ${error ?? ''}`;
}

export const replayDeliveryCommand = command({
  name: 'payments replay',
  summary: 'Delivers a parked event to its handler again.',
  words: ['HANDLER_ID', 'EVENT_ID'],
  options: STORE_OPTIONS,
  run(call) {
    const [handlerId = '', eventId = ''] = call.words;
    return withAccountStore(call, async ({ store, account }) => {
      const isReplayed =
        (await store.replay(account, handlerId, eventId)) ||
        (await store.replay(refundsAccountOf(account), handlerId, eventId));
      if (!isReplayed) {
        throw new CommandFailedError(
          `There is no parked delivery of ${eventId} to ${handlerId}; "payments parked" lists them.`,
        );
      }
      return {
        text: `Event ${eventId} will be delivered to ${handlerId} again.`,
        json: { account, handlerId, eventId },
      };
    });
  },
});

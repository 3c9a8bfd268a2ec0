import type { Delivery } from '../../store/payment-outbox.js';
import { command, CommandFailedError, LIMIT_OPTION, limitOf, STORE_OPTIONS } from '../command.js';
import { withAccountStore } from './account-store.js';

export const parkedDeliveriesCommand = command({
  name: 'payments parked',
  summary: 'Lists the events whose handler kept failing.',
  words: [],
  options: { ...LIMIT_OPTION, ...STORE_OPTIONS },
  run(call) {
    const limit = limitOf(call.values.limit);
    return withAccountStore(call, async ({ store, account }) => {
      const found = await store.listParked(account, limit + 1);
      const hasMore = found.length > limit;
      const deliveries = found.slice(0, limit).map(shownOf);
      const lines = [...deliveries.map(lineOf), ...(hasMore ? ['  … and more: see --limit'] : [])];
      return {
        text: deliveries.length === 0 ? 'Nothing is parked.' : lines.join('\n'),
        json: { account, deliveries, hasMore },
      };
    });
  },
});

function shownOf({ handlerId, event, attempts, error }: Delivery) {
  const { eventId, type, occurredAt, payment } = event;
  return { handlerId, eventId, type, conversationId: payment.conversationId, occurredAt, attempts, error };
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
      if (!(await store.replay(account, handlerId, eventId))) {
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

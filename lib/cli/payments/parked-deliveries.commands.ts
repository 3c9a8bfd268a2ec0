import type { Delivery } from '../../store/payment-store.js';
import { PaymentLogger } from '../../telemetry/payment-logger.js';
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
      const found = await store.listDeliveries({ account, parked: true, after: null, limit: limit + 1 });
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
  const { eventId, type, occurredAt } = event;
  const { conversationId } = event.payment;
  const refundId = 'refund' in event ? event.refund.refundId : null;
  return { handlerId, eventId, type, conversationId, refundId, occurredAt, attempts, error };
}

function lineOf({ handlerId, eventId, type, attempts, error }: ReturnType<typeof shownOf>): string {
  return `  ${handlerId}  ${eventId}  ${type}  failed ${attempts} times: ${error ?? ''}`;
}

/** What a handler will see that has had a later event already. */
const OVERTAKEN = 'A later event of the same payment has overtaken it: its handler learns of an older state.';

export const replayDeliveryCommand = command({
  name: 'payments replay',
  summary: 'Delivers a parked event to its handler again.',
  words: ['HANDLER_ID', 'EVENT_ID'],
  options: STORE_OPTIONS,
  run(call) {
    const [handlerId = '', eventId = ''] = call.words;
    return withAccountStore(call, async ({ store, account }) => {
      const outcome = await store.replay(account, handlerId, eventId);
      if (outcome === 'absent') {
        throw new CommandFailedError(
          `There is no parked delivery of ${eventId} to ${handlerId}; "payments parked" lists them.`,
        );
      }
      const isOvertaken = outcome === 'overtaken';
      if (isOvertaken) new PaymentLogger().warn(`Event ${eventId} is replayed to ${handlerId}. ${OVERTAKEN}`);
      return {
        text: `Event ${eventId} will be delivered to ${handlerId} again.${isOvertaken ? ` ${OVERTAKEN}` : ''}`,
        json: { account, handlerId, eventId },
      };
    });
  },
});

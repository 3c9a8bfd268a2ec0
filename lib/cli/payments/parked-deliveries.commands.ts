import { refundsAccountOf } from '../../payment/account.js';
import type { Delivery } from '../../store/payment-store.js';
import { PaymentLogger } from '../../telemetry/payment-logger.js';
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
    ...(await store.listDeliveries({ account, parked: true, after: null, limit })),
    ...(await store.listDeliveries({ account: refundsAccountOf(account), parked: true, after: null, limit })),
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
      const ofPayment = await store.replay(account, handlerId, eventId);
      const outcome =
        ofPayment === 'absent' ? await store.replay(refundsAccountOf(account), handlerId, eventId) : ofPayment;
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

import { type BothLedgers, compareLedgers, lostEvents, owedEvents } from '../rigs/ledger-comparison.js';
import type { RepeatedSale, ShownState } from './buyers.js';
import { DECLARED, HANDLER_IDS, type HandledEvent, REFUND_HANDLER_ID } from './order-handlers.js';

/** What all sides say in the end. */
export interface Evidence extends BothLedgers {
  /** What buyers were shown. */
  readonly shown: readonly ShownState[];
  readonly repeats: readonly RepeatedSale[];
  /** What the handlers did, in that order. */
  readonly handled: readonly HandledEvent[];
}

/** Where the sides differ: a line for each difference, with the payment's conversationId. */
export function differences(evidence: Evidence): string[] {
  const { movedTwice, lost, invented } = compareLedgers(evidence);
  return [
    ...movedTwice,
    ...lost,
    ...invented,
    ...shownDifferences(evidence),
    ...repeatDifferences(evidence),
    ...eventDifferences(evidence),
  ];
}

function shownDifferences({ shown, payments }: Evidence): string[] {
  const states = new Map(payments.map(({ record }) => [record.conversationId, record.state]));
  return shown.flatMap(({ conversationId, state }) => {
    const stored = states.get(conversationId);
    const isRight = {
      succeeded: stored === 'succeeded',
      failed: stored === 'failed' || stored === 'expired',
      expired: stored === 'failed' || stored === 'expired',
    }[state];
    return isRight === false || !stored ? [`${conversationId}: shown as ${state}, and ${stored ?? 'not stored'}`] : [];
  });
}

/** An idempotencyKey is free again only when nothing of its payment was sent. */
function repeatDifferences({ repeats, payments }: Evidence): string[] {
  const unsent = payments.filter(({ record: { reason } }) => reason === 'not_sent' || reason === 'reference_taken');
  const free = new Set(unsent.map(({ record }) => record.conversationId));
  return repeats.flatMap(({ first, again }) =>
    again === first || free.has(first) ? [] : [`${first}: its idempotencyKey gave ${again} afterwards`],
  );
}

function eventDifferences({ payments, refunds, handled }: Evidence): string[] {
  const found = [...HANDLER_IDS, REFUND_HANDLER_ID].flatMap((id) => {
    const heard = new Set(handled.filter(({ handlerId }) => handlerId === id).map(({ eventId }) => eventId));
    return lostEvents(id === REFUND_HANDLER_ID ? refunds : payments, heard).map(
      (eventId) => `${eventId}: lost for the handler ${id}`,
    );
  });
  const owed = new Set([...payments, ...refunds].flatMap(owedEvents).map(({ eventId }) => eventId));
  const latest = new Map<string, number>();
  const seen = new Set<string>();
  for (const { handlerId, version, type, eventId } of handled) {
    if (!owed.has(eventId)) found.push(`${eventId}: handled by ${handlerId}, and not in the store`);
    const declared: readonly string[] = DECLARED[version][handlerId];
    if (!declared.includes(type.replace(/^(payment|refund)\./, ''))) {
      found.push(`${eventId}: ${type} handled by ${handlerId} of version ${version}, which did not declare it`);
    }
    const [conversationId = '', change = ''] = eventId.split(':');
    const earlier = latest.get(`${handlerId} ${conversationId}`) ?? 0;
    if (!seen.has(`${handlerId} ${eventId}`) && Number(change) < earlier) {
      found.push(`${eventId}: handled by ${handlerId} after ${conversationId}:${earlier}`);
    }
    seen.add(`${handlerId} ${eventId}`);
    latest.set(`${handlerId} ${conversationId}`, Math.max(earlier, Number(change)));
  }
  return found;
}

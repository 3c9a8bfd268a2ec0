import { deleteDelivery, dueDeliveries, dueEventIds, unblockLater } from '../../deliveries.js';
import { outboxWritesBy } from '../../outbox-writes.js';
import type { OutboxWrites } from '../../sql-engine.js';
import { ask } from '../../sql-transaction.js';

const inSteps = outboxWritesBy(function* (database, request) {
  // Read first: MySQL would run a subquery for them once for each delivery of the handler.
  const ids = (yield* ask(dueEventIds(database, request).compile())).rows.map((row) => row.event_id);
  if (ids.length === 0) return [];
  return (yield* ask(dueDeliveries(database, request, ids).compile())).rows;
});

/** Writes deliveries in transactions of several statements; where possible, acknowledges one in one round trip. */
export const outboxWrites: OutboxWrites = {
  ...inSteps,

  async acknowledge(database, delivery) {
    if (!database.takesScripts) return inSteps.acknowledge(database, delivery);
    await database.script([deleteDelivery(database, delivery).compile(), unblockLater(database, delivery).compile()]);
  },
};

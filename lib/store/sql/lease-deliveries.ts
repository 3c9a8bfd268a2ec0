import type { Delivery, DeliveryLeaseRequest } from '../payment-outbox.js';
import { writesOf } from './payment-writes.js';
import type { SqlDatabase } from './sql-database.js';

/** How often one call looks on, past deliveries that wait. */
const MAX_LOOKS = 50;

/** Leases due deliveries to a handler, the longest due first. */
export async function leaseDueDeliveries(database: SqlDatabase, request: DeliveryLeaseRequest): Promise<Delivery[]> {
  if (request.types.length === 0) return [];
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const { leased, isDone } = await writesOf(database).leaseSome(database, request);
    if (leased.length > 0 || isDone) return leased;
  }
  return [];
}

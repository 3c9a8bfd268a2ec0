import type { PaymentModel } from './payment-model.js';
import type { Shop } from './shop-instance.js';

/** The store agrees with the model, and the gateway's ledger with the promises. */
export async function expectAgreement(model: PaymentModel, shop: Shop): Promise<void> {
  const records = await shop.records();
  const stored = records.map(({ conversationId, state, reason, version, idempotencyKey, referenceLock }) => {
    return { conversationId, state, reason, version, idempotencyKey, isHolding: referenceLock !== null };
  });
  const expected = model.payments.map((payment) => ({
    conversationId: payment.sale.conversationId,
    state: payment.state,
    reason: payment.reason,
    version: payment.history.length,
    idempotencyKey: payment.idempotencyKey,
    isHolding: payment.isHolding,
  }));
  expect(stored.sort(byId)).toEqual(expected.sort(byId));
  for (const { conversationId, state, dueAt } of records) {
    // An open payment is always due at some time.
    if (['unknown', 'charging', 'authorizing', 'initiating', 'awaiting'].includes(state)) expect(dueAt).not.toBeNull();
    expect(shop.gateway.timesSent('DoPayment', conversationId)).toBeLessThanOrEqual(1);
    expect(shop.gateway.timesSent('Auth3d', conversationId)).toBeLessThanOrEqual(1);
  }
  expectOneChargeAReference(model, shop);
}

/** At the end: the histories agree, and events were heard in their order. */
export async function expectHistories(model: PaymentModel, shop: Shop): Promise<void> {
  for (const { sale, history, events } of model.payments) {
    const lines = await shop.store.history('default', sale.conversationId);
    expect(lines.map(({ version, state, reason }) => ({ version, state, reason }))).toEqual(history);
    const told = shop.told.filter((event) => event.startsWith(`${sale.conversationId}:`));
    expect(told).toEqual(events);
    history.forEach(({ state, reason }, index) => {
      const isWithoutAnswer = state === 'failed' && history[index - 1]?.state === 'unknown';
      if (isWithoutAnswer) expect(['declined', 'not_found', 'operator']).toContain(reason);
    });
    const isCharged = shop.gateway.isCharged(sale.conversationId);
    const isLie = shop.gateway.plays.get(sale.conversationId) === 'liar';
    const last = history.at(-1)?.state;
    if (last === 'succeeded') expect(isCharged).toBe(true);
    if ((last === 'failed' || last === 'expired') && !isLie) expect(isCharged).toBe(false);
  }
}

function expectOneChargeAReference(model: PaymentModel, shop: Shop): void {
  const charged = new Map<string, number>();
  for (const { sale } of model.payments) {
    const { reference, allowRepeat, conversationId } = sale;
    const isLie = shop.gateway.plays.get(conversationId) === 'liar';
    if (reference === null || allowRepeat || isLie || !shop.gateway.isCharged(conversationId)) continue;
    charged.set(reference, (charged.get(reference) ?? 0) + 1);
  }
  for (const times of charged.values()) expect(times).toBe(1);
}

function byId(one: { conversationId: string }, other: { conversationId: string }): number {
  return one.conversationId < other.conversationId ? -1 : 1;
}

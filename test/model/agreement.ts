import type { ModelRecord } from './model-record.js';
import type { PaymentModel } from './payment-model.js';
import { kurus } from './refund-model.js';
import type { Shop } from './shop-instance.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

const WAITING = ['unknown', 'charging', 'authorizing', 'initiating', 'awaiting', 'refunding'];

/** The store agrees with the model, and the gateway's ledger with the promises. */
export async function expectAgreement(model: PaymentModel, shop: Shop): Promise<void> {
  const records = await shop.records();
  expect(records.map(storedFields).sort(byId)).toEqual(model.payments.map(expectedFields).sort(byId));
  const refunds = await shop.refundRecords();
  expect(refunds.map(storedFields).sort(byId)).toEqual(model.refunds.all.map(expectedFields).sort(byId));
  // What is open is always due at some time.
  const forgotten = [...records, ...refunds].filter(({ state, dueAt }) => WAITING.includes(state) && dueAt === null);
  expect(forgotten).toEqual([]);
  const sent = shop.gateway.sent.map(({ operation, conversationId }) => `${operation} ${conversationId}`);
  expect(sent).toEqual([...new Set(sent)]);
  expectOneChargeAReference(model, shop);
  expectNoMoreBackThanTaken(model, shop);
}

/** At the end: the histories agree, and events were heard in their order. */
export async function expectHistories(model: PaymentModel, shop: Shop): Promise<void> {
  for (const payment of model.payments) {
    const { sale, history } = payment;
    expectLines(payment, await shop.store.history('default', sale.conversationId), shop);
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

/** The same for refunds: only what the gateway's ledger says is believed. */
export async function expectRefundHistories(model: PaymentModel, shop: Shop): Promise<void> {
  for (const refund of model.refunds.all) {
    const { id, history, state, reason } = refund;
    expectLines(refund, await shop.refundHistory(id), shop);
    history.forEach((line, index) => {
      const isWithoutAnswer = line.state === 'failed' && history[index - 1]?.state === 'unknown';
      if (isWithoutAnswer) expect(['declined', 'operator']).toContain(line.reason);
    });
    const isGiven = shop.gateway.isGiven(id);
    const isLie = shop.gateway.refunds.get(id)?.play === 'liar';
    if (state === 'succeeded' && reason !== 'recorded') expect(isGiven).toBe(true);
    if (state === 'failed' && !isLie) expect(isGiven).toBe(false);
  }
}

function storedFields(record: PaymentRecord) {
  const { conversationId: id, state, reason, version, idempotencyKey, referenceLock } = record;
  return { id, state, reason, version, idempotencyKey, isHolding: referenceLock !== null };
}

function expectedFields({ id, state, reason, history, idempotencyKey, isHolding }: ModelRecord) {
  return { id, state, reason, version: history.length, idempotencyKey, isHolding };
}

function expectLines(
  { id, history, events }: ModelRecord,
  stored: readonly { version: number; state: string; reason: string | null }[],
  shop: Shop,
): void {
  expect(stored.map(({ version, state, reason }) => ({ version, state, reason }))).toEqual(history);
  expect(shop.told.filter((event) => event.startsWith(`${id}:`))).toEqual(events);
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

/** By the gateway's own ledger. Only a gateway that gives back and says that it did not can be asked for too much. */
function expectNoMoreBackThanTaken(model: PaymentModel, shop: Shop): void {
  const { gateway } = shop;
  const given = new Map<string, number>();
  const received = [...gateway.refunds.values()];
  expect(received.map(({ type, conversationId, amount }) => ({ type, conversationId, amount: kurus(amount) }))).toEqual(
    received.map(({ refundId }) => {
      const { kind, payment, amount } = model.refunds.find(refundId)!;
      return { type: kind.toUpperCase(), conversationId: payment.id, amount };
    }),
  );
  for (const { id, payment, amount, reason } of model.refunds.all) {
    const isGiven = reason === 'recorded' || (gateway.isGiven(id) && gateway.refunds.get(id)?.play !== 'liar');
    if (isGiven) given.set(payment.id, (given.get(payment.id) ?? 0) + amount);
  }
  for (const [id, amount] of given) expect(amount).toBeLessThanOrEqual(kurus(gateway.chargedAmount(id)));
}

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}

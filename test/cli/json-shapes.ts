import { aPayment, aRefund } from 'nestjs-card-payment/testing';
import { REFUND_STATES, SALE_STATES } from '../../lib/payment/states.js';

const payment = { ...aPayment(), currency: 'TRY' };
const refund = { ...aRefund(), currency: 'TRY' };
const totals = { taken: '', refunded: '', open: '', refundable: '' };
const counted = (states: readonly string[]) =>
  Object.fromEntries(states.map((state) => [state, { count: 0, oldest: null }]));
const page = { account: '', next: null };
const delivery = { handlerId: '', eventId: '', type: '', conversationId: '', attempts: 0, error: '', at: '' };

/** What `--json` prints, by command: names that do not change within a major version. */
export const JSON_SHAPES: Readonly<Record<string, unknown>> = shapeOf({
  doctor: { ok: true, account: '', checks: [{ check: '', status: '', message: '', advice: null }] },
  'payments list': {
    ...page,
    payments: [payment],
    besides: { underWay: 0, pending: 0, openRefunds: 0, parkedDeliveries: 0 },
  },
  'payments show': {
    payment,
    history: [{ at: '', state: '', reason: null, by: null, note: null, refundId: null }],
    refunds: [refund],
    totals,
  },
  'payments stats': {
    account: '',
    otherGateway: 0,
    states: counted(SALE_STATES),
    refunds: counted(REFUND_STATES),
    deliveries: { waiting: 0, open: 0, orphaned: 0, parked: 0, oldest: null },
  },
  'payments inquire': { payment },
  'payments resolve': { payment },
  'payments abandon': { payment },
  'payments refund': { refund },
  'payments void': { refund },
  'payments refunds': { ...page, refunds: [refund], totals },
  'payments record-refund': { refund },
  'payments parked': { ...page, deliveries: [delivery] },
  'payments replay': { account: '', handlerId: '', eventId: '' },
}) as Readonly<Record<string, unknown>>;

/** The names of an answer's fields, at any depth; of lists, those of the first entry. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null || value instanceof Date) return 'a value';
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

/** The same shape, with a list empty where the answer's own is. */
export function withEmptyLists(shape: unknown, answer: unknown): unknown {
  if (Array.isArray(shape)) return Array.isArray(answer) && answer.length === 0 ? [] : shape;
  if (typeof shape !== 'object' || shape === null) return shape;
  const members = Object(answer) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(shape).map(([name, member]) => [name, withEmptyLists(member, members[name])]),
  );
}

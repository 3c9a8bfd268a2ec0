import type { LedgerState, PaymentState } from 'nestjs-card-payment';
import type { Charge, ChargeRefund } from 'nestjs-card-payment/simulator';
import type { StoredPayment } from '../rigs/ledger-comparison.js';
import { differences, type Evidence } from './differences.js';
import { HANDLER_IDS, type HandledEvent, REFUND_HANDLER_ID } from './order-handlers.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

/** One paid and given back in part, one declined and one that the gateway never got; all sides agree. */
function agreeing(): Mutable<Evidence> {
  return {
    ledger: {
      charges: [charge('PAID')],
      refunds: [givenBack('PART', '49.90')],
      violations: [],
      decision: (conversationId) =>
        conversationId === 'LOST'
          ? undefined
          : {
              conversationId,
              kind: 'sale',
              inquiry: conversationId === 'PAID' ? 'B0000' : 'B0051',
              orderId: '',
              paymentId: '',
              charge: null,
              refund: null,
            },
    },
    payments: [
      stored('PAID', ['charging', 'unknown', 'succeeded']),
      stored('DECLINED', ['charging', 'failed']),
      stored('LOST', ['charging', 'unknown']),
    ],
    refunds: [refund('PART', '49.90', ['refunding', 'succeeded']), refund('NONE', '10.00', ['refunding', 'failed'])],
    shown: [
      { conversationId: 'PAID', state: 'unknown' },
      { conversationId: 'DECLINED', state: 'failed' },
    ],
    repeats: [{ first: 'PAID', again: 'PAID' }],
    handled: [
      ...handled('PAID:2', 'unknown'),
      ...handled('PAID:3', 'succeeded'),
      ...handled('DECLINED:2', 'failed'),
      ...handled('LOST:2', 'unknown'),
      told('PART:2', 'succeeded'),
      told('NONE:2', 'failed'),
    ],
  };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

describe('differences', () => {
  it('finds none where all sides agree, nor when a handler is called again', () => {
    const evidence = agreeing();
    expect(differences(evidence)).toEqual([]);
    expect(differences({ ...evidence, handled: [...evidence.handled, ...handled('PAID:2', 'unknown')] })).toEqual([]);
  });

  it.each<[string, (evidence: Mutable<Evidence>) => void]>([
    ['PAID: charged twice', ({ ledger }) => ledger.charges.push(charge('PAID'))],
    ['GONE: charged, and not in the store', ({ ledger }) => ledger.charges.push(charge('GONE'))],
    ['PAID: charged, and unknown', (given) => (given.payments = replaced(given, 'PAID', ['charging', 'unknown']))],
    [
      'SECOND: charged for order, as was PAID',
      (given) => {
        given.ledger.charges.push(charge('SECOND'));
        given.payments = [...given.payments, stored('SECOND', ['charging', 'succeeded'])];
      },
    ],
    [
      'PAID: charged 1.00 instead of 149.90',
      ({ ledger }) => (ledger.charges[0] = { ...charge('PAID'), amount: '1.00' }),
    ],
    [
      'PAID: repeated-call Auth3d',
      ({ ledger }) =>
        ledger.violations.push({
          kind: 'repeated-call',
          operation: 'Auth3d',
          conversationId: 'PAID',
          at: new Date(),
        }),
    ],
    [
      'DECLINED: not charged, and succeeded',
      (given) => (given.payments = replaced(given, 'DECLINED', ['charging', 'succeeded'])),
    ],
    [
      'DECLINED: not charged, and unknown',
      (given) => (given.payments = replaced(given, 'DECLINED', ['charging', 'unknown'])),
    ],
    ['LOST: not charged, and charging', (given) => (given.payments = replaced(given, 'LOST', ['charging']))],
    [
      'LOST: shown as succeeded, and unknown',
      (given) => (given.shown = [{ conversationId: 'LOST', state: 'succeeded' }]),
    ],
    ['LOST: shown as failed, and unknown', (given) => (given.shown = [{ conversationId: 'LOST', state: 'failed' }])],
    [
      'GONE: shown as unknown, and not stored',
      (given) => (given.shown = [{ conversationId: 'GONE', state: 'unknown' }]),
    ],
    [
      'PAID: its idempotencyKey gave DECLINED afterwards',
      (given) => (given.repeats = [{ first: 'PAID', again: 'DECLINED' }]),
    ],
    [
      'PAID:3: lost for the handler mail',
      (given) =>
        (given.handled = given.handled.filter(
          ({ handlerId, eventId }) => handlerId !== 'mail' || eventId !== 'PAID:3',
        )),
    ],
    [
      'PAID:4: handled by orders, and not in the store',
      (given) => (given.handled = [...given.handled, ...handled('PAID:4', 'succeeded')]),
    ],
    [
      'DECLINED:2: payment.failed handled by orders of version 1, which did not declare it',
      (given) => (given.handled = [...given.handled, ...handled('DECLINED:2', 'failed', 1)]),
    ],
    [
      'PAID:2: handled by orders after PAID:3',
      (given) => (given.handled = [given.handled[2]!, given.handled[3]!, ...given.handled]),
    ],
    ['PART: given back twice', ({ ledger }) => ledger.refunds.push(givenBack('PART', '49.90'))],
    ['PAID: more given back than was taken', ({ ledger }) => ledger.refunds.push(givenBack('MORE', '149.90'))],
    [
      'PART: excessive-refund refund',
      ({ ledger }) =>
        ledger.violations.push({
          kind: 'excessive-refund',
          operation: 'refund',
          conversationId: 'PART',
          at: new Date(),
        }),
    ],
    ['GONE: given back, and not in the store', ({ ledger }) => ledger.refunds.push(givenBack('GONE', '1.00'))],
    ['NONE: given back, and failed', ({ ledger }) => ledger.refunds.push(givenBack('NONE', '10.00'))],
    [
      'PART: refund of 49.90 of PAID, known as refund of 59.90 of PAID',
      (given) => (given.refunds = [refund('PART', '59.90', ['refunding', 'succeeded'])]),
    ],
    [
      'PAID: 59.90 known as given back, and 4990 minor units were',
      (given) => (given.refunds = [refund('PART', '59.90', ['refunding', 'succeeded'])]),
    ],
    [
      'NONE: not given back, and succeeded',
      (given) => (given.refunds = [...given.refunds, refund('NONE', '10.00', ['refunding', 'succeeded'])]),
    ],
    [
      'PART:2: lost for the handler refunds',
      (given) => (given.handled = given.handled.filter(({ eventId }) => eventId !== 'PART:2')),
    ],
  ])('finds that %s', (line, change) => {
    const evidence = agreeing();
    change(evidence);
    expect(differences(evidence)).toContain(line);
  });
});

function replaced({ payments }: Evidence, conversationId: string, states: readonly PaymentState[]): StoredPayment[] {
  return payments.map((payment) =>
    payment.record.conversationId === conversationId ? stored(conversationId, states) : payment,
  );
}

function stored(conversationId: string, states: readonly LedgerState[]): StoredPayment {
  const record = {
    conversationId,
    reference: 'order',
    amount: '149.90',
    currencyCode: 949,
    kind: 'direct',
    state: states.at(-1),
  } as PaymentRecord;
  const at = new Date();
  const history = states.map((state, i) => ({ version: i + 1, state, reason: null, note: null, at }));
  return { record, history: history as unknown as StoredPayment['history'] };
}

/** A refund of the payment that was paid. */
function refund(refundId: string, amount: string, states: readonly LedgerState[]): StoredPayment {
  const { record, history } = stored(refundId, states);
  return { record: { ...record, kind: 'refund', parentId: 'PAID', reference: 'PAID', amount }, history };
}

function givenBack(conversationId: string, amount: string): ChargeRefund {
  return { conversationId, kind: 'refund', charge: charge('PAID'), amount, currencyCode: 949, at: new Date() };
}

function told(eventId: string, state: string): HandledEvent {
  return { handlerId: REFUND_HANDLER_ID, version: 2, type: `refund.${state}`, eventId };
}

function handled(eventId: string, state: string, version: 1 | 2 = 2): HandledEvent[] {
  return HANDLER_IDS.map((handlerId) => ({ handlerId, version, type: `payment.${state}`, eventId }));
}

function charge(conversationId: string): Charge {
  return {
    conversationId,
    orderId: '',
    paymentId: '',
    amount: '149.90',
    currencyCode: 949,
    installmentCount: 1,
    kind: 'direct',
    maskedCardNumber: '',
    at: new Date(),
  };
}

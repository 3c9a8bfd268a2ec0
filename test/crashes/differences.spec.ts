import type { Charge, ChargeRefund } from 'nestjs-card-payment/simulator';
import type { Decision } from '../../lib/simulator/ledger.js';
import type { StoredPayment } from '../rigs/ledger-comparison.js';
import { differences, type Evidence } from '../soak/differences.js';
import { HANDLER_IDS, type HandledEvent, REFUND_HANDLER_ID } from '../soak/order-handlers.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

/** One paid and given back in part, one declined and one that the gateway never got; all sides agree. */
function agreeing(): Mutable<Evidence> {
  return {
    ledger: {
      charges: [charge('PAID')],
      refunds: [givenBack('PART', '49.90')],
      violations: [],
      decision: (id) => {
        const inquiry = id === 'PAID' ? 'B0000' : 'B0051';
        return id === 'LOST' ? undefined : ({ kind: 'sale', inquiry } as Decision);
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

/** Facts that differ from the agreeing ones: each a word, with what it is about. */
const FACTS: Readonly<Record<string, (evidence: Mutable<Evidence>, ...words: string[]) => unknown>> = {
  charged: ({ ledger }, id = '') => ledger.charges.push(charge(id)),
  chargedInstead: ({ ledger }, id = '', amount = '') => (ledger.charges[0] = { ...charge(id), amount }),
  givenBack: ({ ledger }, id = '', amount = '') => ledger.refunds.push(givenBack(id, amount)),
  violated: ({ ledger }, kind, operation, conversationId) =>
    ledger.violations.push({ kind, operation, conversationId, at: new Date() } as (typeof ledger.violations)[number]),
  stored: (given, id = '', ...states) => (given.payments = [...without(given.payments, id), stored(id, states)]),
  refund: (given, id = '', amount = '', ...states) =>
    (given.refunds = [...without(given.refunds, id), refund(id, amount, states)]),
  shown: (given, conversationId = '', state = '') => (given.shown = [{ conversationId, state }]),
  repeated: (given, first = '', again = '') => (given.repeats = [{ first, again }]),
  heard: (given, eventId = '', state = '', version = '2') =>
    (given.handled = [...given.handled, ...handled(eventId, state, version === '1' ? 1 : 2)]),
  unheard: (given, lost, by) =>
    (given.handled = given.handled.filter(({ handlerId, eventId }) => eventId !== lost || handlerId !== by)),
  heardFirst: (given, first) =>
    (given.handled = [...given.handled.filter(({ eventId }) => eventId === first), ...given.handled]),
};

describe('differences', () => {
  it('finds none where all sides agree, nor when a handler is called again', () => {
    const evidence = agreeing();
    expect(differences(evidence)).toEqual([]);
    expect(differences({ ...evidence, handled: [...evidence.handled, ...handled('PAID:2', 'unknown')] })).toEqual([]);
  });

  it.each<[difference: string, facts: string]>([
    ['PAID: charged twice', 'charged PAID'],
    ['GONE: charged, and not in the store', 'charged GONE'],
    ['PAID: charged, and unknown', 'stored PAID charging unknown'],
    ['SECOND: charged for order, as was PAID', 'charged SECOND; stored SECOND charging succeeded'],
    ['PAID: charged 1.00 instead of 149.90', 'chargedInstead PAID 1.00'],
    ['PAID: repeated-call Auth3d', 'violated repeated-call Auth3d PAID'],
    ['DECLINED: not charged, and succeeded', 'stored DECLINED charging succeeded'],
    ['DECLINED: not charged, and unknown', 'stored DECLINED charging unknown'],
    ['LOST: not charged, and charging', 'stored LOST charging'],
    ['LOST: shown as succeeded, and unknown', 'shown LOST succeeded'],
    ['LOST: shown as failed, and unknown', 'shown LOST failed'],
    ['GONE: shown as unknown, and not stored', 'shown GONE unknown'],
    ['PAID: its idempotencyKey gave DECLINED afterwards', 'repeated PAID DECLINED'],
    ['PAID:3: lost for the handler mail', 'unheard PAID:3 mail'],
    ['PAID:4: handled by orders, and not in the store', 'heard PAID:4 succeeded'],
    [
      'DECLINED:2: payment.failed handled by orders of version 1, which did not declare it',
      'heard DECLINED:2 failed 1',
    ],
    ['PAID:2: handled by orders after PAID:3', 'heardFirst PAID:3'],
    ['PART: given back twice', 'givenBack PART 49.90'],
    ['PAID: more given back than was taken', 'givenBack MORE 149.90'],
    ['PART: excessive-refund refund', 'violated excessive-refund refund PART'],
    ['GONE: given back, and not in the store', 'givenBack GONE 1.00'],
    ['NONE: given back, and failed', 'givenBack NONE 10.00'],
    ['PART: refund of 49.90 of PAID, known as refund of 59.90 of PAID', 'refund PART 59.90 refunding succeeded'],
    ['PAID: 59.90 known as given back, and 4990 minor units were', 'refund PART 59.90 refunding succeeded'],
    ['NONE: not given back, and succeeded', 'refund NONE 10.00 refunding succeeded'],
    ['PART:2: lost for the handler refunds', 'unheard PART:2 refunds'],
  ])('finds that %s', (difference, facts) => {
    const evidence = agreeing();
    for (const fact of facts.split('; ')) {
      const [word = '', ...words] = fact.split(' ');
      FACTS[word]!(evidence, ...words);
    }
    expect(differences(evidence)).toContain(difference);
  });
});

function without(payments: readonly StoredPayment[], id: string): StoredPayment[] {
  return payments.filter(({ record }) => record.conversationId !== id);
}

function stored(conversationId: string, states: readonly string[]): StoredPayment {
  const sale = { reference: 'order', amount: '149.90', currencyCode: 949, kind: 'direct' };
  const record = { conversationId, ...sale, state: states.at(-1) } as PaymentRecord;
  const at = new Date();
  const history = states.map((state, i) => ({ version: i + 1, state, reason: null, note: null, at }));
  return { record, history: history as unknown as StoredPayment['history'] };
}

/** A refund of the payment that was paid. */
function refund(refundId: string, amount: string, states: readonly string[]): StoredPayment {
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
  return { conversationId, amount: '149.90', currencyCode: 949 } as Charge;
}

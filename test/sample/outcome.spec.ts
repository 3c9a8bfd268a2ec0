import type { PaymentState } from 'nestjs-card-payment';
import { aPayment } from 'nestjs-card-payment/testing';
import { isAtPage, isPayable, type Outcome, outcomeOf } from '../../sample/src/orders/outcome.js';

/** What the buyer sees, and whether the shop may ask for a card again: never while money may have moved. */
const SHOWN: Readonly<Record<PaymentState, [Outcome['kind'], boolean]>> = {
  succeeded: ['paid', false],
  charging: ['pending', false],
  authorizing: ['pending', false],
  unknown: ['pending', false],
  review: ['checking', false],
  initiating: ['atBank', true],
  awaiting: ['atBank', true],
  pending: ['atPage', false],
  failed: ['failed', true],
  expired: ['expired', true],
};
const STATES = Object.entries(SHOWN) as [PaymentState, [Outcome['kind'], boolean]][];

const payment = (state: PaymentState, number = 1) => aPayment({ state, conversationId: `ABC${number}` });

it.each(STATES)('a payment that is %s is shown as %s', (state, [kind, payable]) => {
  const outcome = outcomeOf([payment(state)]);
  expect(outcome).toEqual({ kind, payment: payment(state) });
  expect(isPayable(outcome)).toBe(payable);
});

it('an order without a payment can be paid', () => {
  expect(outcomeOf([])).toEqual({ kind: 'unpaid' });
  expect(isPayable({ kind: 'unpaid' })).toBe(true);
});

it.each(STATES.filter(([, [, payable]]) => !payable))(
  'a payment that is %s decides, wherever it stands',
  (state, [kind]) => {
    for (const other of ['failed', 'expired', 'awaiting'] as const) {
      expect(outcomeOf([payment(other, 2), payment(state), payment(other, 3)])).toEqual({
        kind,
        payment: payment(state),
      });
    }
  },
);

it('the payment page decides while it is being opened, too, and so does one at which a card was declined', () => {
  const opening = aPayment({ state: 'initiating', kind: 'hosted' });
  expect(outcomeOf([opening, payment('failed', 2)])).toEqual({ kind: 'atPage', payment: opening });
  const declined = aPayment({ state: 'pending', kind: 'hosted', reason: 'declined' });
  const outcome = outcomeOf([declined, payment('failed', 2)]);
  expect(outcome).toEqual({ kind: 'declinedAtPage', payment: declined });
  expect([isAtPage(outcome), isPayable(outcome)]).toEqual([true, false]);
  expect(isAtPage(outcomeOf([opening]))).toBe(true);
  expect(isAtPage(outcomeOf([payment('awaiting')]))).toBe(false);
});

it('a payment page that was given up counts as if it had not been opened, unless it was paid after all', () => {
  const givenUp = aPayment({ state: 'expired', kind: 'hosted', reason: 'abandoned' });
  expect(outcomeOf([givenUp])).toEqual({ kind: 'unpaid' });
  expect(outcomeOf([payment('failed', 1), givenUp])).toMatchObject({ kind: 'failed' });
  const paidLate = aPayment({ state: 'review', kind: 'hosted', reason: 'moved_after_all' });
  expect(outcomeOf([paidLate])).toMatchObject({ kind: 'checking' });
});

it('a payment that succeeded decides, even if another one may have taken money', () => {
  for (const other of ['review', 'unknown'] as const) {
    expect(outcomeOf([payment(other, 1), payment('succeeded', 2)])).toMatchObject({ kind: 'paid' });
  }
});

it('the latest payment decides if none of them holds the order', () => {
  expect(outcomeOf([payment('failed', 1), payment('awaiting', 2)])).toMatchObject({ kind: 'atBank' });
  expect(outcomeOf([payment('awaiting', 1), payment('failed', 2)])).toMatchObject({ kind: 'failed' });
  expect(outcomeOf([payment('failed', 1), payment('expired', 2)])).toMatchObject({ kind: 'expired' });
});

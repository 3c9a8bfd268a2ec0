import { applyDecorators } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { EVENT_STATES, OnPayment, type Payment, PaymentEvent, type PaymentIn, RefundEvent } from 'nestjs-card-payment';
import { aPayment, aPaymentEvent } from 'nestjs-card-payment/testing';
import { ledgerEventOf } from '../../lib/payment/payment-event.js';
import { saleText } from '../../lib/payment/refund.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

/** Code of a merchant. What compiles, and what does not, is checked by `npm run typecheck`. */
class Accepted {
  @OnPayment('succeeded')
  itsState({ payment }: PaymentEvent<'succeeded'>): Payment {
    return payment;
  }

  @OnPayment('succeeded', { id: 'x', timeoutMs: 5 })
  anyEvent(_event: PaymentEvent): void {}

  @OnPayment(['failed', 'expired'])
  async nothing(): Promise<void> {}

  @OnPayment(['failed', 'expired'])
  itsStates(_event: PaymentEvent<'failed' | 'expired'>): void {}

  @OnPayment('failed')
  @OnPayment('expired', { name: 'eu' })
  bothDecorators(_event: PaymentEvent<'failed' | 'expired'>): void {}

  @OnPayment(EVENT_STATES)
  allStates(_event: PaymentEvent): void {}

  @OnPayment('failed')
  aPart(_event: { payment: Pick<Payment, 'reference'> }): void {}

  @applyDecorators(OnPayment('failed'))
  composed(_event: PaymentEvent<'failed'>): void {}

  @OnEvent('payment.failed')
  plainEvent(_event: PaymentEvent<'failed'>): void {}
}

class Refused {
  // @ts-expect-error the event of another state
  @OnPayment('succeeded')
  anotherState(_event: PaymentEvent<'failed'>): void {}

  // @ts-expect-error the event of one state of two
  @OnPayment(['failed', 'expired'])
  oneStateOfTwo(_event: PaymentEvent<'failed'>): void {}

  @OnPayment('failed')
  // @ts-expect-error the event of one decorator of two
  @OnPayment('expired')
  oneDecoratorOfTwo(_event: PaymentEvent<'failed'>): void {}

  // @ts-expect-error the payment, not its event
  @OnPayment('failed')
  payment(_payment: Payment): void {}

  // @ts-expect-error more than the event
  @OnPayment('failed')
  more(_event: PaymentEvent, _more: string): void {}

  // @ts-expect-error a state without events
  @OnPayment('charging')
  without(): void {}
}

function read(event: PaymentEvent, some: unknown): ('failed' | 'succeeded' | Payment)[] {
  const { type, payment } = event;
  const forTest: PaymentIn<'failed'> = aPayment({ state: 'failed' });
  const read: ('failed' | 'succeeded' | Payment)[] = [payment, forTest.state, aPaymentEvent().payment.state];
  const failed: 'failed'[] = [aPaymentEvent({ state: 'failed', reference: 'o' }).payment.state];
  if (event.type === 'payment.failed') failed.push(event.payment.state);
  if (type === 'payment.failed') failed.push(payment.state);
  if (event.payment.state === 'failed') failed.push(event.payment.state);
  if (some instanceof PaymentEvent && some.type === 'payment.failed') failed.push(some.payment.state);
  // @ts-expect-error read without looking
  failed.push(event.payment.state);
  // @ts-expect-error the event of another state, for a test
  const other: PaymentEvent<'failed'> = aPaymentEvent();
  // @ts-expect-error misspelt
  if (event.type === 'payment.faild') return [];
  return [...read, ...failed, other.payment];
}

it('an event is a class at run time, as the type of a decorated parameter', () => {
  const refund = aPaymentRecord({ state: 'failed', kind: 'refund', parentId: 'P', sale: saleText(aPayment()) });
  expect(ledgerEventOf(aPaymentRecord({ state: 'failed' }))).toBeInstanceOf(PaymentEvent);
  expect(ledgerEventOf(refund)).toBeInstanceOf(RefundEvent);
  const typesOf = (name: string): unknown => Reflect.getMetadata('design:paramtypes', Accepted.prototype, name);
  expect([typesOf('anyEvent'), typesOf('itsStates')]).toEqual([[PaymentEvent], [PaymentEvent]]);
  expect([typeof Refused, typeof read]).toEqual(['function', 'function']);
});

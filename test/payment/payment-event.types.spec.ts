import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, type Payment, PaymentEvent, RefundEvent } from 'nestjs-card-payment';
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
  itsStates(_event: PaymentEvent<'failed' | 'expired'>): void {}

  @OnPayment('failed')
  @OnPayment('expired', { name: 'eu' })
  bothDecorators(_event: PaymentEvent<'failed' | 'expired'>): void {}

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

  // @ts-expect-error the payment, not its event
  @OnPayment('failed')
  payment(_payment: Payment): void {}

  // @ts-expect-error a state without events
  @OnPayment('charging')
  without(): void {}
}

function read(event: PaymentEvent, some: unknown): 'failed'[] {
  const { type, payment } = event;
  const failed = [aPayment({ state: 'failed' }).state, aPaymentEvent({ state: 'failed' }).payment.state];
  if (event.type === 'payment.failed') failed.push(event.payment.state);
  if (type === 'payment.failed') failed.push(payment.state);
  if (some instanceof PaymentEvent && some.type === 'payment.failed') failed.push(some.payment.state);
  // @ts-expect-error read without looking
  failed.push(event.payment.state);
  return failed;
}

it('an event is a class at run time, as the type of a decorated parameter', () => {
  const refund = aPaymentRecord({ state: 'failed', kind: 'refund', parentId: 'P', sale: saleText(aPayment()) });
  expect(ledgerEventOf(aPaymentRecord({ state: 'failed' }))).toBeInstanceOf(PaymentEvent);
  expect(ledgerEventOf(refund)).toBeInstanceOf(RefundEvent);
  const typesOf = (name: string): unknown => Reflect.getMetadata('design:paramtypes', Accepted.prototype, name);
  expect([typesOf('anyEvent'), typesOf('itsStates')]).toEqual([[PaymentEvent], [PaymentEvent]]);
  expect([typeof Refused, typeof read]).toEqual(['function', 'function']);
});

import { ConfigService } from '@nestjs/config';
import { Test } from '@nestjs/testing';
import { type Payment, PaymentService } from 'nestjs-card-payment';
import { aPayment, aPaymentEvent } from 'nestjs-card-payment/testing';
import { OrderService } from './order.service.js';

describe('OrderService', () => {
  async function ordersWith(...payments: Payment[]): Promise<OrderService> {
    const service: Partial<PaymentService> = {
      findByReference: () => Promise.resolve(payments),
    };
    const module = await Test.createTestingModule({
      providers: [
        OrderService,
        { provide: PaymentService, useValue: service },
        {
          provide: ConfigService,
          useValue: new ConfigService({ ORDERS_DB: ':memory:' }),
        },
      ],
    }).compile();
    return module.get(OrderService);
  }

  it('calls an order paid, of which one payment failed and one succeeded', async () => {
    const orders = await ordersWith(
      aPayment({ state: 'failed' }),
      aPayment({ state: 'succeeded' }),
    );
    expect(await orders.stateOf(orders.place())).toBe('paid');
  });

  it('does not take an unknown outcome for a failure', async () => {
    const orders = await ordersWith(
      aPayment({ state: 'failed' }),
      aPayment({ state: 'unknown' }),
    );
    expect(await orders.stateOf(orders.place())).toBe('please wait');
  });

  it('marks an order as paid once, however often it is called', async () => {
    const orders = await ordersWith();
    const id = orders.place();
    const event = aPaymentEvent({ state: 'succeeded', reference: id });
    orders.markPaid(event);
    orders.markPaid(event);
    expect(orders.find(id).paidBy).toBe(event.eventId);
  });
});

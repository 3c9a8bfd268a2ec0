import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { type CardDetailsDto, OnPayment, Payment, PaymentEvent, PaymentService } from 'nestjs-card-payment';

@Injectable()
export class Orders {
  /** References, as the awaited handler and the plain listener were told of them. */
  readonly paid: (string | null)[] = [];
  readonly heard: (string | null)[] = [];

  constructor(private readonly payments: PaymentService) {}

  charge(reference: string, card: CardDetailsDto): Promise<Payment> {
    return this.payments.doPayment(this.sale(reference, card));
  }

  async startAtBank(reference: string, card: CardDetailsDto): Promise<string> {
    const { conversationId } = await this.payments.init3d(this.sale(reference, card));
    return conversationId;
  }

  @OnPayment('succeeded')
  onPaid({ payment }: PaymentEvent<'succeeded'>): void {
    this.paid.push(payment.reference);
  }

  @OnEvent('payment.succeeded')
  onHeard({ payment }: PaymentEvent<'succeeded'>): void {
    this.heard.push(payment.reference);
  }

  /** What is known of the handler's parameter at run time: a pipe or a decorator of the merchant's may look at it. */
  get takes(): unknown {
    const [first] = Reflect.getMetadata('design:paramtypes', Orders.prototype, 'onPaid') as readonly unknown[];
    return first;
  }

  private sale(reference: string, cardDetails: CardDetailsDto) {
    return {
      reference,
      cardDetails,
      transactionDetails: { amount: '149.90', currencyCode: 949, installmentCount: 1 },
      cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    };
  }
}

/** What the merchant's compiler refuses: it is told of payments that have succeeded. */
export class Misplaced {
  // @ts-expect-error the event of a payment that has failed
  @OnPayment('succeeded')
  onFailed({ payment }: PaymentEvent<'failed'>): string {
    return payment.state;
  }
}

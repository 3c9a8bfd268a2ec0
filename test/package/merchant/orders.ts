import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { type CardDetailsDto, OnPayment, Payment, PaymentEvent, PaymentService } from 'nestjs-card-payment';

@Injectable()
export class Orders {
  /** The references that the awaited handler and the plain listener received. */
  readonly paid: (string | null)[] = [];
  readonly emitted: (string | null)[] = [];

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
  onEmitted({ payment }: PaymentEvent<'succeeded'>): void {
    this.emitted.push(payment.reference);
  }

  /** The type of the handler's parameter at run time, which a pipe or decorator of the merchant may read. */
  get parameterType(): unknown {
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

/** The compiler refuses this handler, since its event is that of a succeeded payment. */
export class Misplaced {
  // @ts-expect-error the parameter is the event of a failed payment
  @OnPayment('succeeded')
  onFailed({ payment }: PaymentEvent<'failed'>): string {
    return payment.state;
  }
}

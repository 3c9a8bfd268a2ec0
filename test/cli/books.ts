import { SystemClock } from '../../lib/runtime/clock.js';
import { type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import { saleText } from '../../lib/payment/refund.js';
import { openStore } from '../../lib/store/open-store.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

/** Noon of a day in November 2025 in Istanbul. */
export function noon(day: number, ms = 0): Date {
  return new Date(Date.UTC(2025, 10, day, 9) + ms);
}

/** The store of an application, into which a test writes what has been settled. */
export class Books {
  private constructor(readonly store: PaymentStore) {}

  static async open(storeUrl: string): Promise<Books> {
    const clock = new SystemClock();
    return new Books(await openStore({ storeUrl, store: null, variable: '', background: false, clock }));
  }

  /** Stores a payment that succeeded, unless told otherwise. */
  async sale(conversationId: string, more: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    const at = more.finalizedAt ?? noon(10);
    const record = aPaymentRecord({
      conversationId,
      reference: `order-${conversationId}`,
      kind: 'direct',
      amount: '60.00',
      createdAt: at,
      updatedAt: at,
      finalizedAt: at,
      ...more,
    });
    expect(await this.store.insert(record)).toBeNull();
    return record;
  }

  /** Stores a refund of a payment, of 10 lira, that succeeded unless told otherwise. */
  async refund(sale: PaymentRecord, refundId: string, more: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    return this.sale(refundId, {
      kind: 'refund',
      parentId: sale.conversationId,
      reference: sale.reference,
      referenceLock: null,
      amount: '10.00',
      finalizedAt: sale.finalizedAt,
      sale: saleText(toPayment(sale)),
      ...more,
    });
  }
}

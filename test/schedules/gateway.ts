import type { Transmission } from '../../lib/gateway/transport/attempt.js';

/** A sale in the gateway's ledger. */
export interface Sale {
  readonly conversationId: string;
  readonly amount: number;
  /** How many DoPayments and Auth3ds of it arrived. */
  arrivals: number;
  /** How often the card was charged. */
  charges: number;
  /** Whether it can be paid at the gateway's own page. */
  readonly hasPage: boolean;
  /** Whether an inquiry was told that the page has not been paid so far. */
  saidUnpaid: boolean;
  /** Whether the page was paid after that. */
  isPaidLate: boolean;
}

/** A refund or void that arrived. */
export interface GivenBack {
  readonly refundId: string;
  readonly conversationId: string;
  readonly amount: number;
  arrivals: number;
  /** Whether the money was given back. */
  isDone: boolean;
}

export interface WireFields {
  readonly conversationId: string;
  readonly paymentId?: string;
  readonly transactionDetails?: { readonly transactionType?: string; readonly amount?: number };
}

/** Operations whose request moves money. */
export type Operation = 'DoPayment' | 'Init3d' | 'Auth3d' | 'CheckPayment' | 'page' | 'refund' | 'void';

export const ACCOUNT = 'default';

/** What an inquiry says of a page that was not paid so far, and of what the gateway does not know. */
const UNPAID = 'B0025';
const UNKNOWN = 'B0100';
const PAYMENT_PREFIX = 'PAYMENT-';
const BANK_PAGE = Buffer.from('<html><body>bank</body></html>').toString('base64');

export function movesMoney(operation: Operation): boolean {
  return operation !== 'Init3d' && operation !== 'CheckPayment' && operation !== 'page';
}

export function operationOf(path: string, { transactionDetails }: WireFields): Operation {
  const type = transactionDetails?.transactionType;
  if (type === 'REFUND' || type === 'VOID') return type.toLowerCase() as 'refund' | 'void';
  return path === 'HostedPaymentRedirect' ? 'page' : (path as Operation);
}

/** It approves everything that can be done, and tells the truth to an inquiry. */
export class Gateway {
  readonly sales = new Map<string, Sale>();
  readonly refunds = new Map<string, GivenBack>();

  isCharged(conversationId: string): boolean {
    return (this.sales.get(conversationId)?.charges ?? 0) > 0;
  }

  isPaidLate(conversationId: string): boolean {
    return this.sales.get(conversationId)?.isPaidLate ?? false;
  }

  isGivenBack(refundId: string): boolean {
    return this.refunds.get(refundId)?.isDone ?? false;
  }

  givenOf(conversationId: string): number {
    const given = [...this.refunds.values()].filter((one) => one.conversationId === conversationId && one.isDone);
    return given.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** The buyer types a card at the gateway's own page, which can be paid once, however late it is. */
  payAtPage(conversationId: string): void {
    const sale = this.sales.get(conversationId);
    if (!sale?.hasPage || sale.charges > 0) return;
    sale.charges = 1;
    sale.isPaidLate = sale.saidUnpaid;
  }

  receive(operation: Operation, fields: WireFields): Transmission {
    return { sent: true, reply: { status: 200, text: JSON.stringify(this.answer(operation, fields)) } };
  }

  private answer(operation: Operation, fields: WireFields): object {
    const { conversationId } = fields;
    switch (operation) {
      case 'Init3d':
        this.openSale(fields, false);
        return { code: 'B0000', conversationId, htmlForm: BANK_PAGE };
      case 'page':
        this.openSale(fields, true);
        return { code: 'B0000', conversationId, returnUrl: `https://gateway.example/pay/${conversationId}` };
      case 'CheckPayment':
        return this.inquiry(conversationId);
      case 'refund':
      case 'void':
        return this.giveBack(operation, fields);
      default:
        return this.charge(this.sales.get(conversationId) ?? this.openSale(fields, false));
    }
  }

  private openSale({ conversationId, transactionDetails }: WireFields, hasPage: boolean): Sale {
    const amount = transactionDetails?.amount ?? NaN;
    const page = { hasPage, saidUnpaid: false, isPaidLate: false };
    const sale = { conversationId, amount, arrivals: 0, charges: 0, ...page };
    this.sales.set(conversationId, sale);
    return sale;
  }

  private charge(sale: Sale): object {
    sale.arrivals += 1;
    sale.charges += 1;
    return { code: 'B0000', ...shown(sale) };
  }

  private giveBack(operation: 'refund' | 'void', fields: WireFields): object {
    const { conversationId: refundId, paymentId = '', transactionDetails } = fields;
    const sale = this.sales.get(paymentId.slice(PAYMENT_PREFIX.length))!;
    const amount = operation === 'void' ? sale.amount : (transactionDetails?.amount ?? NaN);
    const { conversationId } = sale;
    const refund = this.refunds.get(refundId) ?? { refundId, conversationId, amount, arrivals: 0, isDone: false };
    this.refunds.set(refundId, refund);
    refund.arrivals += 1;
    const given = this.givenOf(conversationId);
    const fits = operation === 'void' ? given === 0 : given + amount <= sale.amount;
    if (!fits) return { code: 'B0012', conversationId: refundId };
    refund.isDone = true;
    return { code: 'B0000', conversationId: refundId };
  }

  private inquiry(conversationId: string): object {
    const refund = this.refunds.get(conversationId);
    if (refund) return { ...approvedIf(refund.isDone), conversationId, transactionType: 'REFUND' };
    const sale = this.sales.get(conversationId);
    if (sale?.charges) return { ...approvedIf(true), ...shown(sale) };
    if (!sale?.hasPage) return { responseCode: UNKNOWN };
    sale.saidUnpaid = true;
    return { responseCode: UNPAID };
  }
}

function approvedIf(isDone: boolean): object {
  return isDone ? { responseCode: 'B0000', responseDescription: 'Approved' } : { responseCode: 'B0051' };
}

function shown({ conversationId, amount }: Sale): object {
  const ids = { orderId: `ORDER-${conversationId}`, paymentId: PAYMENT_PREFIX + conversationId };
  return { conversationId, ...ids, currency: '949', paymentInfo: { amount } };
}

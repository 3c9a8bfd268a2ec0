import {
  type Auth3dDto,
  type DoPaymentDto,
  type HostedPaymentDto,
  newConversationId,
  type RecordRefundDto,
} from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';

export type Flow = 'direct' | 'init3d' | 'auth3d' | 'hosted' | RefundFlow;
/** Of a payment that was made before; `recordRefund` writes down a refund that the gateway does not know of. */
type RefundFlow = 'refund' | 'void' | 'recordRefund';

const REFUND_FLOWS = ['refund', 'void', 'recordRefund'] as const satisfies readonly RefundFlow[];

/** In which flow a process is killed, and where on its way. */
export interface Crash {
  readonly flow: Flow;
  readonly point: `${'before' | 'after'} the ${'opening write' | 'request' | 'reply' | 'closing write' | 'handler'}`;
}

/** A payment or refund whose process is killed, as those who come after know it. */
export interface Attempt extends Crash {
  readonly sale: Sale;
  /** What the bank sent, of an `auth3d`. */
  readonly fields: Auth3dDto['fields'] | null;
}

export type Sale = DoPaymentDto & { readonly conversationId: string; readonly reference: string };

export function newSale(): Sale {
  const order = sale();
  const reference = order.reference!;
  return { ...order, reference, conversationId: newConversationId(), idempotencyKey: `key of ${reference}` };
}

/** The same sale, whose buyer types the card at the gateway's own page. */
export function pageOf({ conversationId, reference, idempotencyKey, transactionDetails }: Sale): HostedPaymentDto {
  return { conversationId, reference, idempotencyKey, transactionDetails };
}

export function isRefundFlow(flow: Flow): flow is RefundFlow {
  return (REFUND_FLOWS as readonly Flow[]).includes(flow);
}

/** What is given back of a sale. All of it is derived from the sale, so that it can be asked for again. */
export function refundOf({ conversationId, reference }: Sale, flow: RefundFlow): RecordRefundDto {
  const amount = flow === 'void' ? {} : { amount: '40.00' };
  const idempotencyKey = `refund of ${reference}`;
  return {
    conversationId,
    // Another id than the payment's, whatever that begins with.
    refundId: `${conversationId.startsWith('R') ? 'S' : 'R'}${conversationId.slice(1)}`,
    idempotencyKey,
    note: 'sent back',
    ...amount,
  } as RecordRefundDto;
}

import { type Auth3dDto, type DoPaymentDto, newConversationId } from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';

export type Flow = 'direct' | 'init3d' | 'auth3d';

/** A payment whose process was killed, as those who come after know it. */
export interface Attempt {
  readonly flow: Flow;
  readonly point: string;
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

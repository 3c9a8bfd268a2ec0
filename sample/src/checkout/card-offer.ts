import type { CardBin, PaymentService } from 'nestjs-card-payment';
import { decimalText, TURKISH_LIRA } from '../money.js';
import type { Order } from '../orders/order.js';
import { INSTALMENTS } from './checkout-form.js';

/** One way to pay in instalments that a buyer can choose. */
export interface OfferedInstalments {
  readonly count: number;
  /** What the buyer pays in all, decimal text; null if that is not known. */
  readonly total: string | null;
}

/** What the buyer can choose from with this card. */
export interface CardOffer {
  readonly card: Pick<CardBin, 'bank' | 'type' | 'brand'>;
  readonly instalments: readonly OfferedInstalments[];
}

/** The digits of a card number that say whose card it is, and no more of it; null if there are too few. */
export function firstDigits(typed: string): string | null {
  const digits = typed.replace(/[ -]/g, '');
  return /^\d{6,}$/.test(digits) ? digits.slice(0, 8) : null;
}

/** Asks what the card can do for this order. The amount is the order's own. */
export async function offerFor(payments: PaymentService, bin: string, order: Order): Promise<CardOffer> {
  const sale = { amount: decimalText(order.totalKurus), currencyCode: TURKISH_LIRA };
  const { bank, type, brand, installments } = await payments.checkBin(bin, sale);
  return { card: { bank, type, brand }, instalments: offered({ type, installments }, sale.amount) };
}

/** What the shop offers of what the card can do. A card of which nothing is known may pay in any of the shop's ways. */
function offered(
  { type, installments }: Pick<CardBin, 'type' | 'installments'>,
  price: string,
): readonly OfferedInstalments[] {
  const inFull = { count: 1, total: price };
  const isCredit = type === null || type === 'credit';
  const unknown = isCredit ? INSTALMENTS.map((count) => ({ count, total: null })) : [];
  const later = (installments ?? unknown).filter(({ count }) => count > 1 && isOffered(count));
  return [inFull, ...later];
}

function isOffered(count: number): boolean {
  return INSTALMENTS.some((each) => each === count);
}

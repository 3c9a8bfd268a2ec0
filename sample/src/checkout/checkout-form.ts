import type { DoPaymentDto, PaymentValidationError } from 'nestjs-card-payment';
import { formText } from '../form-text.js';
import { decimalText, TURKISH_LIRA } from '../money.js';
import type { Order } from '../orders/order.js';
import type { Language } from '../visitor/language.js';

export const INSTALMENTS = [1, 2, 3, 6, 9, 12] as const;

/** The form's fields by the paths that the payment module uses when it refuses one. */
const FIELD_OF_PATH = {
  'cardHolderInfo.cardHolderName': 'holder',
  'cardHolderInfo.buyerGsm': 'phone',
  'cardDetails.cardNo': 'number',
  'cardDetails.expDate': 'expiry',
  'cardDetails.cvv': 'cvv',
  'transactionDetails.installmentCount': 'instalments',
} as const;

export type CheckoutField = (typeof FIELD_OF_PATH)[keyof typeof FIELD_OF_PATH];

/** The fields that are shown again after an error. Those of the card are not. */
export interface CheckoutValues {
  readonly holder: string;
  readonly phone: string;
  readonly instalments: number;
  readonly is3d: boolean;
}

export const EMPTY_CHECKOUT: CheckoutValues = { holder: '', phone: '', instalments: 1, is3d: true };

export function readCheckout(form: unknown): CheckoutValues {
  return {
    holder: formText(form, 'holder'),
    phone: formText(form, 'phone'),
    instalments: INSTALMENTS.find((count) => String(count) === formText(form, 'instalments')) ?? 1,
    is3d: formText(form, 'method') !== 'direct',
  };
}

/** People type the card into the wrong field: what is a name or a phone number is shown again. */
const SHOWN_AGAIN = /^(?:(?:\P{N}*\p{N}){0,2}\P{N}*|\+?\d(?: ?\d){6,12})$/u;

/** What of a refused form may be shown again. */
export function shownAgain(form: unknown): CheckoutValues {
  const { holder, phone, ...choices } = readCheckout(form);
  const harmless = (text: string): string => (SHOWN_AGAIN.test(text) ? text : '');
  return { ...choices, holder: harmless(holder), phone: harmless(phone) };
}

/** What the payment module takes. Only the card, its holder and the instalments come from the buyer. */
export function toPayment(form: unknown, order: Order): DoPaymentDto {
  const { holder, phone, instalments } = readCheckout(form);
  return {
    reference: order.id,
    cardDetails: {
      cardNo: formText(form, 'number'),
      expDate: formText(form, 'expiry'),
      cvv: formText(form, 'cvv'),
    },
    transactionDetails: {
      amount: decimalText(order.totalKurus),
      currencyCode: TURKISH_LIRA,
      installmentCount: instalments,
    },
    cardHolderInfo: { cardHolderName: holder, buyerGsm: phone },
  };
}

/**
 * The module's message for each wrong field, in the buyer's language.
 * @throws the error itself when one of the fields is not the buyer's
 */
export function wrongFields(error: PaymentValidationError, language: Language): ReadonlyMap<CheckoutField, string> {
  const issues = error.issuesIn(language).map(({ path, message }) => {
    if (!isCheckoutPath(path)) throw error;
    return [FIELD_OF_PATH[path], message] as const;
  });
  return new Map(issues);
}

function isCheckoutPath(path: string): path is keyof typeof FIELD_OF_PATH {
  return Object.hasOwn(FIELD_OF_PATH, path);
}

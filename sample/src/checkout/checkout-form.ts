import type { DoPaymentDto, PaymentValidationError } from 'nestjs-card-payment';
import { formText } from '../form-text.js';
import { decimalText, TURKISH_LIRA } from '../money.js';
import type { Order } from '../orders/order.js';

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

/** What can be shown again after an error: nothing of the card. */
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

/** The form as the payment module takes it; of the buyer, only the card, its holder and the instalments. */
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

/** @throws the error itself when it names something that the buyer cannot correct */
export function wrongFields(error: PaymentValidationError): ReadonlySet<CheckoutField> {
  const fields = error.issues.map(({ path }) => FIELD_OF_PATH[path as keyof typeof FIELD_OF_PATH]);
  if (fields.includes(undefined as never)) throw error;
  return new Set(fields);
}

import { compareAmounts } from '../../payment/amount.js';
import type { DecidingField, GatewayResult, Init3dResult, SaleRequest } from '../gateway-dialect.js';
import type { ReplyFields } from '../readings/reply-fields.js';
import { findBankPage } from '../readings/pages.js';
import { WireDecimal, type WireObject } from '../wire-body.js';

/** The body of DoPayment as in docs/interface.md, without `sign`. */
export function saleBody(sale: SaleRequest, merchantId: string): WireObject {
  return {
    merchantId,
    returnUrl: sale.returnUrl,
    failUrl: sale.failUrl,
    paymentMethod: sale.paymentMethod,
    language: sale.language,
    conversationId: sale.conversationId,
    paymentInstrumentType: sale.paymentInstrumentType,
    cardDetails: { cardNo: sale.cardDetails.cardNo, expDate: sale.cardDetails.expDate, cvv: sale.cardDetails.cvv },
    transactionDetails: {
      transactionType: sale.transactionType,
      installmentCount: sale.installmentCount,
      amount: new WireDecimal(sale.amount),
      currencyCode: sale.currencyCode,
      vftFlag: sale.vftFlag,
    },
    cardHolderInfo: {
      cardHolderName: sale.cardHolderInfo.cardHolderName,
      buyerGsm: sale.cardHolderInfo.buyerGsm,
    },
    extraParameter: sale.pfSubMerchantId === undefined ? undefined : { pfSubMerchantId: sale.pfSubMerchantId },
  };
}

const DECIDING_TEXTS = ['code', 'resultCode', 'conversationId', 'currency'] as const;

/** Reads an answer to DoPayment, with its fields where docs/interface.md shows them. */
function readContractResult(fields: ReplyFields): GatewayResult {
  const info = fields.object('paymentInfo');
  const unreadable: DecidingField[] = DECIDING_TEXTS.filter((name) => fields.isNotText(name));
  // If `paymentInfo` is not an object, or there are two of them, the amount in it cannot be read.
  if (info ? info.isNotText('amount') : fields.has('paymentInfo')) unreadable.push('amount');
  return {
    code: fields.text('code'),
    resultCode: fields.text('resultCode'),
    message: fields.text('message') ?? fields.text('resultDescription'),
    conversationId: fields.text('conversationId'),
    amount: info?.text('amount') ?? null,
    currency: fields.text('currency'),
    orderId: fields.text('orderId'),
    paymentId: fields.text('paymentId'),
    bankUniqueReferenceNumber: fields.text('bankUniqueReferenceNumber'),
    authCode: fields.text('authCode'),
    transactionDate: fields.text('transactionDate'),
    maskedCardNumber: fields.object('instrumentDetail')?.text('maskedCardNumber') ?? null,
    commissionRate: info?.text('payFacCommissionRate') ?? null,
    commissionAmount: info?.text('payFacCommissionAmount') ?? null,
    ...(unreadable.length > 0 && { unreadable }),
  };
}

/**
 * Reads an answer that may show amount and currency next to the code or in `paymentInfo`, and the currency also under
 * its name in requests (unverified: the interface does not show their places in other answers). Values that differ are
 * unreadable.
 */
export function readScatteredResult(fields: ReplyFields): GatewayResult {
  const { unreadable: unread = [], ...result } = readContractResult(fields);
  const info = fields.object('paymentInfo');
  const places = info ? [info, fields] : [fields];
  const amounts = valuesIn(places, 'amount');
  const currencies = [...valuesIn(places, 'currency'), ...valuesIn(places, 'currencyCode')];
  const unreadable = [...unread];
  if (!amounts.every((amount) => isSameAmount(amount, amounts[0]))) unreadable.push('amount');
  if (!currencies.every((currency) => isSameCurrency(currency, currencies[0]))) unreadable.push('currency');
  return {
    ...result,
    amount: unreadable.includes('amount') ? null : (amounts[0] ?? null),
    currency: unreadable.includes('currency') ? null : (currencies[0] ?? null),
    ...(unreadable.length > 0 && { unreadable }),
  };
}

/** The values of a field, one for each place that has it; null for a value that cannot be read. */
function valuesIn(places: readonly ReplyFields[], name: string): (string | null)[] {
  return places.filter((place) => place.has(name)).map((place) => place.text(name));
}

function isSameAmount(one: string | null, other: string | null | undefined): boolean {
  return one !== null && typeof other === 'string' && compareAmounts(one, other) === 0;
}

/** Whether two codes are the same with or without leading zeros: `36` is `036`. */
function isSameCurrency(one: string | null, other: string | null | undefined): boolean {
  return one !== null && typeof other === 'string' && one.padStart(3, '0') === other.padStart(3, '0');
}

/** Reads an answer to Init3d: the fields of DoPayment's answer (unverified), and the page. */
export function readContractPage(fields: ReplyFields, contentField: string | undefined): Init3dResult {
  return { ...readContractResult(fields), ...(findBankPage(fields, contentField) ?? { content: null }) };
}

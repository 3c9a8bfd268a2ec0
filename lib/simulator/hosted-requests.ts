import type { JsonNumber, JsonObject } from './exact-json.js';
import type { HostedOperation } from './ledger.js';
import {
  checkFields,
  expectDecimals,
  fieldRules,
  isAmountText,
  isCurrencyText,
  isNumber,
  oneOf,
  optional,
  type Sale,
} from './request-checks.js';
import type { SimulatorSettings } from './simulator-options.js';

/** A request for a page that passed every check. */
export interface HostedRequest extends Omit<Sale, 'maskedCardNumber' | 'expDate'> {
  readonly operation: HostedOperation;
  /** 0: not in instalments, or as the buyer chooses. Which of the two it means to the real gateway is unverified. */
  readonly installmentCount: number;
}

const PAYMENT_METHODS: Readonly<Record<HostedOperation, string>> = {
  hostedPage: 'HOSTEDPAYMENT',
  embeddedForm: 'EMBEDDEDPAYMENT',
};

/**
 * The fields that the vendor's plugins send: those of a sale without the card and its holder, with the amount and the
 * currency as text, and with a capital F in `pFSubMerchantId`, which may be empty.
 *
 * @throws Refusal (400) that names every wrong field
 */
export function readHosted(operation: HostedOperation, body: JsonObject, settings: SimulatorSettings): HostedRequest {
  const rules = fieldRules(settings);
  const { merchantId, returnUrl, failUrl, language, conversationId, sign, paymentInstrumentType } = rules;
  const { transactionType, vftFlag } = rules.transactionDetails;
  const fields = checkFields(body, {
    merchantId,
    returnUrl,
    failUrl,
    paymentMethod: oneOf(PAYMENT_METHODS[operation]),
    language,
    conversationId,
    sign,
    paymentInstrumentType,
    transactionDetails: {
      transactionType,
      vftFlag,
      installmentCount: isNumber(/^(?:0|[2-9]|[1-9]\d)$/),
      amount: isAmountText,
      currencyCode: isCurrencyText,
    },
    extraParameter: { pFSubMerchantId: optional((value) => typeof value === 'string') },
  });
  const details = fields.transactionDetails as {
    readonly installmentCount: JsonNumber;
    readonly amount: string;
    readonly currencyCode: string;
  };
  const request = {
    operation,
    conversationId: fields.conversationId as string,
    returnUrl: fields.returnUrl as string,
    failUrl: fields.failUrl as string,
    language: fields.language as string,
    amount: details.amount,
    currencyCode: Number(details.currencyCode),
    installmentCount: Number(details.installmentCount.text),
  };
  expectDecimals(request);
  return request;
}

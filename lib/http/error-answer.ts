import { STATUS_CODES } from 'node:http';
import { HttpException, HttpStatus } from '@nestjs/common';
import type { Payment } from '../payment/payment.js';
import type { PaymentState, RefundState } from '../payment/states.js';
import type { Refund } from '../payment/refund.js';
import type { TextLanguage } from '../runtime/text-language.js';
import { BUYER_TEXTS, type BuyerText, isBuyersField } from '../errors/buyer-texts.js';
import {
  PaymentDuplicateError,
  PaymentError,
  PaymentHostedError,
  PaymentRefundError,
  type RefundRefusal,
} from '../errors/payment-errors.js';
import { PaymentValidationError, type ValidationIssue } from '../errors/payment-validation.error.js';

/** The JSON that `PaymentExceptionFilter` answers with. */
export interface PaymentErrorBody {
  readonly statusCode: number;
  /** The error's `code`: `PAYMENT_VALIDATION`, … */
  readonly code: string;
  /** For the developer. */
  readonly message: string;
  /** For the buyer, in Turkish or English, as the request's `Accept-Language` prefers. */
  readonly tellBuyer: string;
  /** Each mistake in the input, in the same language. */
  readonly issues?: readonly ValidationIssue[];
  /** The payment that the error is about; absent for a duplicate, whose payment may be another customer's. */
  readonly conversationId?: string;
  readonly state?: PaymentState;
  /** The refund or void that the error is about, of that payment; absent if it is about the payment itself. */
  readonly refundId?: string;
  readonly refundState?: RefundState;
  /** Why a refund was refused, or that a page of the same sale is open at the gateway. */
  readonly reason?: RefundRefusal | 'page_open';
  /** What is left to give back, in major units as decimal text. */
  readonly refundable?: string;
}

/** The answer to an error, from which the filter makes a page or JSON. */
export interface ErrorAnswer {
  readonly status: number;
  /** What the buyer reads. */
  readonly buyerText: BuyerText;
  /** Whether it is a bug of the host, which Nest would log. */
  readonly isUnexpected: boolean;
  /** What the log must tell the developer if the buyer gets a page, which does not say it; null if there is nothing. */
  readonly forDeveloper: string | null;
  /** After how many seconds to try again; null if that would not help. */
  readonly retryAfter: number | null;
  /** The body for programs. */
  readonly json: (language: TextLanguage) => object;
}

/** The status of errors that the caller did not cause; the other errors have their own. */
const STATUS_OF_CODE: ReadonlyMap<string, HttpStatus> = new Map([
  ['PAYMENT_UNSUPPORTED', HttpStatus.NOT_IMPLEMENTED],
  ['PAYMENT_INIT3D', HttpStatus.BAD_GATEWAY],
  ['PAYMENT_HOSTED', HttpStatus.BAD_GATEWAY],
  ['PAYMENT_NOT_SENT', HttpStatus.SERVICE_UNAVAILABLE],
  ['PAYMENT_STORE', HttpStatus.SERVICE_UNAVAILABLE],
  ['PAYMENT_OVERLOAD', HttpStatus.SERVICE_UNAVAILABLE],
  ['PAYMENT_SHUTDOWN', HttpStatus.SERVICE_UNAVAILABLE],
]);

/** Payments in flight end within seconds: then there is room again, or another instance answers. */
const RETRY_AFTER_CODES: ReadonlySet<string> = new Set(['PAYMENT_OVERLOAD', 'PAYMENT_SHUTDOWN']);
const RETRY_AFTER_SECONDS = 5;

/** Rules that a shop's own form never breaks: the request came from something else. */
const FORM_RULES: ReadonlySet<string> = new Set(['unknownField', 'fieldCount', 'unreadable', 'isObject']);

export function answerTo(error: unknown): ErrorAnswer {
  return error instanceof PaymentError ? answerToPaymentError(error) : answerToOtherError(error);
}

function answerToPaymentError(error: PaymentError): ErrorAnswer {
  const { code } = error;
  const status = error.statusCode ?? STATUS_OF_CODE.get(code) ?? HttpStatus.INTERNAL_SERVER_ERROR;
  const buyerText = textOfPaymentError(error, status);
  return {
    status,
    buyerText,
    isUnexpected: false,
    forDeveloper: error instanceof PaymentValidationError && buyerText !== 'input' ? error.message : null,
    retryAfter: RETRY_AFTER_CODES.has(code) ? RETRY_AFTER_SECONDS : null,
    json: (language) => bodyOf(error, status, buyerText, language),
  };
}

/** What an error may be about. */
interface About {
  readonly payment?: Payment | null;
  readonly refund?: Refund | null;
}

function bodyOf(
  error: PaymentError,
  statusCode: number,
  buyerText: BuyerText,
  language: TextLanguage,
): PaymentErrorBody {
  const isDuplicate = error.code === 'PAYMENT_DUPLICATE';
  const { payment, refund } = isDuplicate ? {} : (error as PaymentError & About);
  return {
    statusCode,
    code: error.code,
    message: error.message,
    tellBuyer: BUYER_TEXTS[buyerText][language].text,
    ...(error instanceof PaymentValidationError && { issues: error.issuesIn(language) }),
    ...(error instanceof PaymentRefundError && { reason: error.reason, refundable: error.refundable }),
    ...(error instanceof PaymentHostedError && error.reason === 'page_open' && { reason: error.reason }),
    ...(payment && { conversationId: payment.conversationId, state: payment.state }),
    ...(refund && { refundId: refund.refundId, refundState: refund.state }),
  };
}

function textOfPaymentError(error: PaymentError, status: HttpStatus): BuyerText {
  switch (status) {
    case HttpStatus.BAD_REQUEST:
      return error instanceof PaymentValidationError ? textOfIssues(error.issues) : 'refused';
    case HttpStatus.PAYMENT_REQUIRED:
      return 'declined';
    case HttpStatus.NOT_FOUND:
      return 'notFound';
    case HttpStatus.CONFLICT:
      return isOfThisPayment(error) ? 'impossible' : 'underWay';
    case HttpStatus.NOT_IMPLEMENTED:
      return 'impossible';
    case HttpStatus.BAD_GATEWAY:
    case HttpStatus.SERVICE_UNAVAILABLE:
      if (error.code === 'PAYMENT_OVERLOAD') return 'busy';
      // These two are also thrown while an order that has been paid is looked up.
      return ['PAYMENT_STORE', 'PAYMENT_SHUTDOWN'].includes(error.code) ? 'unavailable' : 'later';
    default:
      return 'trouble';
  }
}

/** Whether a conflict comes from the payment itself or a refund, and not from another payment of the order. */
function isOfThisPayment(error: PaymentError): boolean {
  if (error instanceof PaymentDuplicateError) return error.key === 'refundId' || error.refund !== null;
  return ['PAYMENT_STATE', 'PAYMENT_REFUND'].includes(error.code);
}

/** Only if every mistake is in a field that the buyer fills in: a masked card comes from the host's own pipe. */
function textOfIssues(issues: readonly ValidationIssue[]): BuyerText {
  if (issues.every(({ path, rule }) => isBuyersField(path) && rule !== 'masked')) return 'input';
  return issues.some(({ rule }) => FORM_RULES.has(rule)) ? 'refused' : 'notCharged';
}

/**
 * To an error of the host or of its parser, whose message may hold what was sent. It may come from a payment that has
 * moved money, so no text says that nothing was charged.
 */
function answerToOtherError(error: unknown): ErrorAnswer {
  const { statusCode = 500 } = Object(error) as { readonly statusCode?: unknown };
  // Express's body parser throws errors that have a status of 4xx, and are no HttpException.
  const given = error instanceof HttpException ? error.getStatus() : Number(statusCode);
  const status = given in STATUS_CODES && given >= 400 ? given : 500;
  return {
    status,
    buyerText: status < 500 ? 'refused' : 'trouble',
    isUnexpected: status >= 500 && !(error instanceof HttpException),
    forDeveloper: null,
    retryAfter: null,
    json: () => ({ statusCode: status, message: STATUS_CODES[status] }),
  };
}

import { HttpException, HttpStatus } from '@nestjs/common';
import type { Payment } from '../payment/payment.js';
import type { PaymentState } from '../payment/payment-state.js';
import type { TextLanguage } from '../payment/text-language.js';
import { BUYER_TEXTS, type BuyerText, isBuyersField } from './buyer-texts.js';
import { PaymentError } from './payment.error.js';
import { PaymentValidationError, type ValidationIssue } from './payment-validation.error.js';

/** What `PaymentExceptionFilter` answers, as JSON. */
export interface PaymentErrorBody {
  readonly statusCode: number;
  /** The error's `code`: `PAYMENT_VALIDATION`, … */
  readonly code: string;
  /** For the developer. */
  readonly message: string;
  /** For the buyer, in Turkish or English, as the request's `Accept-Language` prefers. */
  readonly tellBuyer: string;
  /** What is wrong with the input, in the same language. */
  readonly issues?: readonly ValidationIssue[];
  /** The payment that the error is about; absent for a duplicate, whose payment may be another customer's. */
  readonly conversationId?: string;
  readonly state?: PaymentState;
}

/** What is answered to an error, whoever asks. */
export interface ErrorAnswer {
  readonly status: number;
  /** What the buyer reads. */
  readonly says: BuyerText;
  /** Whether the buyer can correct it in the form, or try another card there. */
  readonly isOfForm: boolean;
  /** Whether Nest would log it, too: a bug of the host. */
  readonly isUnexpected: boolean;
  /** What the developer has to know, where a page takes the place of the JSON that would say it; null otherwise. */
  readonly forDeveloper: string | null;
  /** In seconds, where it is worth to come back. */
  readonly retryAfter: number | null;
  /** What programs are answered. */
  json(language: TextLanguage): object;
}

/** Of what was not the caller's doing; the other errors bring their own. */
const STATUS_OF_CODE: ReadonlyMap<string, HttpStatus> = new Map([
  ['PAYMENT_UNSUPPORTED', HttpStatus.NOT_IMPLEMENTED],
  ['PAYMENT_INIT3D', HttpStatus.BAD_GATEWAY],
  ['PAYMENT_NOT_SENT', HttpStatus.SERVICE_UNAVAILABLE],
  ['PAYMENT_STORE', HttpStatus.SERVICE_UNAVAILABLE],
  ['PAYMENT_OVERLOAD', HttpStatus.SERVICE_UNAVAILABLE],
  ['PAYMENT_SHUTDOWN', HttpStatus.SERVICE_UNAVAILABLE],
]);

/**
 * Of what was refused before anything was looked at. Payments in flight end within seconds: by then there is room, or
 * another instance answers.
 */
const RETRY_AFTER_CODES: ReadonlySet<string> = new Set(['PAYMENT_OVERLOAD', 'PAYMENT_SHUTDOWN']);
const RETRY_AFTER_SECONDS = 5;

/** What no form of a shop brings about. */
const FORM_RULES: ReadonlySet<string> = new Set(['unknownField', 'fieldCount', 'readable', 'isObject']);

/** Of the host's own errors. Whether they moved money is not known: nothing says that they did not. */
const TEXT_OF_STATUS: Readonly<Partial<Record<number, BuyerText>>> = {
  401: 'signIn',
  403: 'forbidden',
  404: 'noPage',
  410: 'noPage',
  413: 'tooLarge',
  429: 'tooMany',
};

export function answerTo(error: unknown): ErrorAnswer {
  return error instanceof PaymentError ? answerToPaymentError(error) : answerToHostsError(error);
}

function answerToPaymentError(error: PaymentError): ErrorAnswer {
  const { code } = error;
  const status = error.statusCode ?? STATUS_OF_CODE.get(code) ?? HttpStatus.INTERNAL_SERVER_ERROR;
  const says = textOfPaymentError(error, status);
  return {
    status,
    says,
    isOfForm: says === 'input' || says === 'declined',
    isUnexpected: false,
    forDeveloper: error instanceof PaymentValidationError && says !== 'input' ? error.message : null,
    retryAfter: RETRY_AFTER_CODES.has(code) ? RETRY_AFTER_SECONDS : null,
    json: (language) => bodyOf(error, status, says, language),
  };
}

function bodyOf(error: PaymentError, statusCode: number, says: BuyerText, language: TextLanguage): PaymentErrorBody {
  const { payment } = error as { payment?: Payment | null };
  const isOwn = payment && error.code !== 'PAYMENT_DUPLICATE';
  return {
    statusCode,
    code: error.code,
    message: error.message,
    tellBuyer: BUYER_TEXTS[says][language].text,
    ...(error instanceof PaymentValidationError && { issues: error.issuesIn(language) }),
    ...(isOwn && { conversationId: payment.conversationId, state: payment.state }),
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
      return error.code === 'PAYMENT_STATE' ? 'impossible' : 'underWay';
    case HttpStatus.NOT_IMPLEMENTED:
      return 'impossible';
    case HttpStatus.BAD_GATEWAY:
    case HttpStatus.SERVICE_UNAVAILABLE:
      if (error.code === 'PAYMENT_OVERLOAD') return 'busy';
      // They also come of a look at an order that has been paid.
      return ['PAYMENT_STORE', 'PAYMENT_SHUTDOWN'].includes(error.code) ? 'unavailable' : 'later';
    default:
      return 'trouble';
  }
}

/** Where something is wrong that is not in a field of the buyer's, no form can help. */
function textOfIssues(issues: readonly ValidationIssue[]): BuyerText {
  if (issues.every(({ path }) => isBuyersField(path))) return 'input';
  return issues.some(({ rule }) => FORM_RULES.has(rule)) ? 'refused' : 'notCharged';
}

function answerToHostsError(error: unknown): ErrorAnswer {
  const status = error instanceof HttpException ? error.getStatus() : statusOfHttpError(error);
  return {
    status,
    says: TEXT_OF_STATUS[status] ?? (status < 500 ? 'refused' : 'trouble'),
    isOfForm: false,
    isUnexpected: !(error instanceof HttpException) && status >= 500,
    forDeveloper: null,
    retryAfter: null,
    json: () => (error instanceof HttpException ? jsonOfNest(error) : jsonOfHttpError(error, status)),
  };
}

/** Express's body parser, for one, throws errors that carry a status and are none of Nest's. */
function statusOfHttpError(error: unknown): number {
  const { statusCode, message } = (error ?? {}) as { statusCode?: unknown; message?: unknown };
  const isMeant = Number.isInteger(statusCode) && typeof message === 'string' && message !== '';
  const status = isMeant ? (statusCode as number) : 500;
  return status >= 400 && status < 500 ? status : 500;
}

/** As Nest answers it. */
function jsonOfNest(error: HttpException): object {
  const response = error.getResponse();
  return typeof response === 'object' ? response : { statusCode: error.getStatus(), message: response };
}

function jsonOfHttpError(error: unknown, statusCode: number): object {
  return { statusCode, message: statusCode < 500 ? (error as Error).message : 'Internal server error' };
}

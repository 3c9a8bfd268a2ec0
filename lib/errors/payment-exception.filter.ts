import { type ArgumentsHost, Catch, type ExceptionFilter, HttpStatus, Optional } from '@nestjs/common';
import type { Payment } from '../payment/payment.js';
import type { PaymentState } from '../payment/payment-state.js';
import { preferredLanguage, type TextLanguage } from '../payment/text-language.js';
import { BUYER_TEXTS } from './buyer-texts.js';
import { PaymentError } from './payment.error.js';
import type { ValidationIssue } from './payment-validation.error.js';

/** What {@link PaymentExceptionFilter} answers, as JSON. */
export interface PaymentErrorBody {
  readonly statusCode: number;
  /** The error's `code`: `PAYMENT_VALIDATION`, … */
  readonly code: string;
  /** For the developer. */
  readonly message: string;
  /** For the buyer, in Turkish or English, as the request's `Accept-Language` prefers. */
  readonly tellBuyer: string;
  /** What is wrong with the input. */
  readonly issues?: readonly ValidationIssue[];
  /** The payment that the error is about; absent for a duplicate, whose payment may be another customer's. */
  readonly conversationId?: string;
  readonly state?: PaymentState;
}

/** The parts that Express's response and Fastify's reply have in common. */
interface HttpResponse {
  readonly headersSent?: boolean;
  readonly sent?: boolean;
  header(name: string, value: string): unknown;
  status(code: number): HttpResponse;
  send(body: PaymentErrorBody): unknown;
}

interface HttpRequest {
  readonly headers?: { readonly 'accept-language'?: string };
}

type BuyerText = keyof typeof BUYER_TEXTS;

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

/**
 * Answers this module's errors over HTTP, on Express and Fastify; elsewhere (GraphQL, microservices) it rethrows them.
 * Use it with `@UseFilters(PaymentExceptionFilter)`, `APP_FILTER` or `app.useGlobalFilters(new
 * PaymentExceptionFilter())`. `tellBuyer` of the answer is what a buyer may read.
 *
 * | error | status |
 * |---|---|
 * | `PaymentValidationError`, `PaymentCallbackError` | 400 |
 * | `PaymentInit3dError`, declined | 402 |
 * | `PaymentNotFoundError` | 404 |
 * | `PaymentDuplicateError`, `PaymentStateError`; `PaymentInit3dError` of a reference that is taken | 409 |
 * | any other `PaymentError` | 500 |
 * | `PaymentUnsupportedError` | 501 |
 * | `PaymentInit3dError`: refused, unreadable or unanswered | 502 |
 * | `PaymentNotSentError`, `PaymentStoreError`: no money was moved, try again | 503 |
 * | `PaymentOverloadError`, `PaymentShutdownError`, with `Retry-After` in seconds | 503 |
 */
@Catch(PaymentError)
export class PaymentExceptionFilter implements ExceptionFilter<PaymentError> {
  /** @param language of `tellBuyer` where a request prefers neither Turkish nor English: `tr` (default) or `en` */
  constructor(@Optional() private readonly language: string = 'tr') {}

  catch(error: PaymentError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error;
    const http = host.switchToHttp();
    const response = http.getResponse<HttpResponse>();
    if (response.headersSent || response.sent) return;
    const accepted = http.getRequest<HttpRequest>().headers?.['accept-language'];
    const body = bodyOf(error, preferredLanguage(accepted, this.language));
    if (RETRY_AFTER_CODES.has(error.code)) response.header('Retry-After', String(RETRY_AFTER_SECONDS));
    response.status(body.statusCode).send(body);
  }
}

function bodyOf(error: PaymentError, language: TextLanguage): PaymentErrorBody {
  const { issues, payment } = error as { issues?: readonly ValidationIssue[]; payment?: Payment | null };
  const isOwn = payment && error.code !== 'PAYMENT_DUPLICATE';
  const statusCode = error.statusCode ?? STATUS_OF_CODE.get(error.code) ?? HttpStatus.INTERNAL_SERVER_ERROR;
  return {
    statusCode,
    code: error.code,
    message: error.message,
    tellBuyer: BUYER_TEXTS[buyerTextOf(error.code, statusCode)][language],
    ...(issues && { issues }),
    ...(isOwn && { conversationId: payment.conversationId, state: payment.state }),
  };
}

function buyerTextOf(code: string, status: HttpStatus): BuyerText {
  switch (status) {
    case HttpStatus.BAD_REQUEST:
      return code === 'PAYMENT_VALIDATION' ? 'input' : 'refused';
    case HttpStatus.PAYMENT_REQUIRED:
      return 'declined';
    case HttpStatus.NOT_FOUND:
      return 'notFound';
    case HttpStatus.CONFLICT:
      return code === 'PAYMENT_STATE' ? 'impossible' : 'underWay';
    case HttpStatus.NOT_IMPLEMENTED:
      return 'impossible';
    case HttpStatus.BAD_GATEWAY:
    case HttpStatus.SERVICE_UNAVAILABLE:
      return code === 'PAYMENT_OVERLOAD' ? 'busy' : 'later';
    default:
      return 'trouble';
  }
}

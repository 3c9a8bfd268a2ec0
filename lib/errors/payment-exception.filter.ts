import { type ArgumentsHost, Catch, type ExceptionFilter, HttpStatus } from '@nestjs/common';
import type { Payment, PaymentState } from '../payment/payment.js';
import { PaymentError } from './payment.error.js';
import type { ValidationIssue } from './payment-validation.error.js';

/** What {@link PaymentExceptionFilter} answers, as JSON. */
export interface PaymentErrorBody {
  readonly statusCode: number;
  /** The error's `code`: `PAYMENT_VALIDATION`, … */
  readonly code: string;
  readonly message: string;
  /** What is wrong with the input. */
  readonly issues?: readonly ValidationIssue[];
  /** The payment that the error is about: the other one, for a duplicate. */
  readonly conversationId?: string;
  readonly state?: PaymentState;
}

/** The parts that Express's response and Fastify's reply have in common. */
interface HttpResponse {
  readonly headersSent?: boolean;
  readonly sent?: boolean;
  status(code: number): HttpResponse;
  send(body: PaymentErrorBody): unknown;
}

/** Of what was not the caller's doing; the other errors bring their own. */
const STATUS_OF_CODE: ReadonlyMap<string, HttpStatus> = new Map([
  ['PAYMENT_UNSUPPORTED', HttpStatus.NOT_IMPLEMENTED],
  ['PAYMENT_INIT3D', HttpStatus.BAD_GATEWAY],
  ['PAYMENT_NOT_SENT', HttpStatus.SERVICE_UNAVAILABLE],
  ['PAYMENT_STORE', HttpStatus.SERVICE_UNAVAILABLE],
]);

/**
 * Answers this module's errors over HTTP, on Express and Fastify; elsewhere (GraphQL, microservices) it rethrows them.
 * Use it with `@UseFilters(PaymentExceptionFilter)`, `APP_FILTER` or `app.useGlobalFilters(new
 * PaymentExceptionFilter())`.
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
 */
@Catch(PaymentError)
export class PaymentExceptionFilter implements ExceptionFilter<PaymentError> {
  catch(error: PaymentError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error;
    const response = host.switchToHttp().getResponse<HttpResponse>();
    if (response.headersSent || response.sent) return;
    const body = bodyOf(error);
    response.status(body.statusCode).send(body);
  }
}

function bodyOf(error: PaymentError): PaymentErrorBody {
  const { issues, payment } = error as { issues?: readonly ValidationIssue[]; payment?: Payment };
  return {
    statusCode: error.statusCode ?? STATUS_OF_CODE.get(error.code) ?? HttpStatus.INTERNAL_SERVER_ERROR,
    code: error.code,
    message: error.message,
    ...(issues && { issues }),
    ...(payment && { conversationId: payment.conversationId, state: payment.state }),
  };
}

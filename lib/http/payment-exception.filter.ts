import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Optional } from '@nestjs/common';
import {
  PaymentDuplicateError,
  PaymentError,
  PaymentHostedError,
  PaymentRefundError,
  PaymentValidationError,
  type RefundRefusal,
  type ValidationIssue,
} from '../errors/payment-errors.js';
import { describeThrown, Masker, thrownText } from '../payment/kept-text.js';
import type { Payment } from '../payment/payment.js';
import type { Refund } from '../payment/refund.js';
import type { PaymentState, RefundState } from '../payment/states.js';
import { SystemClock } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { preferredLanguage, type TextLanguage } from '../runtime/text-language.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';
import { buyerPage, buyerPageHeaders, type HttpResponse, PAGE_TEXTS, type PageName, send } from './pages.js';

export interface PaymentExceptionFilterOptions {
  /** The language for buyers whose browser asks for neither Turkish nor English: `tr` (default) or `en`. */
  readonly language?: TextLanguage;
  /** Where the link on the pages leads: a path of this site, or an absolute http(s) URL. Default `/`. */
  readonly shopUrl?: string;
}

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

/** What may have been begun already, on either adapter. */
interface Answer extends HttpResponse {
  /** Express's alone. */
  readonly headersSent?: boolean;
  readonly writableEnded?: boolean;
  end?(): unknown;
  /** Fastify's alone. */
  readonly sent?: boolean;
  readonly raw?: Pick<ServerResponse, 'headersSent' | 'writableEnded' | 'end' | 'statusCode'>;
  removeHeader(name: string): unknown;
}

interface HttpRequest {
  readonly headers?: { readonly accept?: string; readonly 'accept-language'?: string };
}

/** Of no request in particular: nothing is known that it carried. */
const ANY = new Masker([]);
const PAGE_HEADERS = buyerPageHeaders("'none'");
const JSON_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Type': 'application/json; charset=utf-8',
};
/** Headers that the route may have set for the answer that it meant to send. */
const ROUTE_HEADERS = ['Content-Length', 'Content-Encoding', 'Content-Disposition', 'ETag', 'Last-Modified'];
/** Payments in flight end within seconds: then there is room again, or another instance answers. */
const RETRY_AFTER: Readonly<Record<string, string>> = { PAYMENT_OVERLOAD: '5', PAYMENT_SHUTDOWN: '5' };

/**
 * Answers this module's errors over HTTP, on Express and Fastify; in GraphQL and microservices it rethrows them.
 * Use it with `@UseFilters(PaymentExceptionFilter)`, `APP_FILTER` or `app.useGlobalFilters(new
 * PaymentExceptionFilter())`.
 *
 * A browser (its `Accept` names `text/html`) gets a page in the buyer's language, with a link back to the shop; a
 * program gets JSON, whose `tellBuyer` may be shown to the buyer. To show your form again instead, extend this class
 * and override `catch` (docs/forms.md). With `@Catch()` on your class, it also answers every other error, with its
 * status and a fixed text: a message may hold what was sent.
 *
 * | error | status |
 * |---|---|
 * | `PaymentValidationError`, `PaymentCallbackError` | 400 |
 * | `PaymentInit3dError`: declined | 402 |
 * | `PaymentNotFoundError` | 404 |
 * | `PaymentDuplicateError`, `PaymentStateError`, `PaymentRefundError` | 409 |
 * | `PaymentHostedError`: a page of the sale is open | 409 |
 * | any other `PaymentError` | 500 |
 * | `PaymentUnsupportedError` | 501 |
 * | `PaymentInit3dError`, `PaymentHostedError`: refused, unreadable or unanswered | 502 |
 * | `PaymentNotSentError`, `PaymentStoreError`: no money moved, try again | 503 |
 * | `PaymentOverloadError`, `PaymentShutdownError`, with `Retry-After` in seconds | 503 |
 */
@Catch(PaymentError)
export class PaymentExceptionFilter implements ExceptionFilter {
  private readonly language: TextLanguage;
  private readonly shopUrl: string;
  private readonly limitedLog = new LimitedLog(new SystemClock());
  private readonly logger = new PaymentLogger();

  /** @throws TypeError when `shopUrl` is neither a path nor an http(s) URL */
  constructor(@Optional() { language = 'tr', shopUrl = '/' }: PaymentExceptionFilterOptions = {}) {
    if (!/^(?:\/(?![/\\])|https?:\/\/)/i.test(shopUrl)) {
      throw new TypeError('shopUrl must be a path that begins with one /, or an absolute http(s) URL');
    }
    this.language = language;
    this.shopUrl = shopUrl;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error;
    const http = host.switchToHttp();
    const response = answerable(http.getResponse<Answer | ServerResponse>());
    if (isBegun(response)) return end(response);
    const { headers: { accept = '', 'accept-language': wanted } = {} } = http.getRequest<HttpRequest>();
    const language = preferredLanguage(wanted, this.language);
    if (error instanceof PaymentError) this.answer(error, response, accept, language);
    else this.answerOther(error, response, accept, language);
  }

  private answer(error: PaymentError, response: Answer, accept: string, language: TextLanguage): void {
    const page = pageOf(error);
    const retryAfter = RETRY_AFTER[error.code];
    if (retryAfter !== undefined) response.header('Retry-After', retryAfter);
    if (prefersPage(accept) && error instanceof PaymentValidationError && page !== 'input') {
      const line = `A buyer was shown a page. ${error.message}`;
      this.limitedLog.write(page, (rest) => this.logger.warn(line + rest));
    }
    this.reply(response, error.httpStatus, accept, language, page, bodyOf(error, page, language));
  }

  /**
   * To an error of the host or of its parser, whose message may hold what was sent. It may come from a payment that has
   * moved money, so no text says that nothing was charged.
   */
  private answerOther(error: unknown, response: Answer, accept: string, language: TextLanguage): void {
    const { statusCode } = Object(error) as { readonly statusCode?: unknown };
    // Express's body parser throws errors that have a status of 4xx, and are no HttpException.
    const given = error instanceof HttpException ? error.getStatus() : Number(statusCode);
    const status = given in STATUS_CODES && given >= 400 ? given : 500;
    if (status >= 500 && !(error instanceof HttpException)) {
      this.logger.error(`A request failed${thrownText(describeThrown(error, ANY))}.`);
    }
    const body = { statusCode: status, message: STATUS_CODES[status] };
    this.reply(response, status, accept, language, status < 500 ? 'refused' : 'shopError', body);
  }

  private reply(
    response: Answer,
    status: number,
    accept: string,
    language: TextLanguage,
    page: PageName,
    body: object,
  ): void {
    for (const name of ROUTE_HEADERS) response.removeHeader(name);
    if (prefersPage(accept)) send(response, status, PAGE_HEADERS, buyerPage(page, language, this.shopUrl));
    else send(response, status, JSON_HEADERS, JSON.stringify(body));
  }
}

/**
 * Whether the client wants a page: its `Accept` names HTML and not JSON, as that of browsers does when they open a page
 * or post a form.
 */
function prefersPage(accept: string): boolean {
  return /text\/html/i.test(accept) && !/application\/json/i.test(accept);
}

/** Ends an answer that was begun and then failed: otherwise the buyer would wait for the rest of it. */
function end(response: Answer): void {
  if (response.writableEnded === false) response.end?.();
  const { raw } = response;
  if (raw?.writableEnded !== false) return;
  if (!raw.headersSent) raw.statusCode = 500;
  raw.end();
}

function isBegun({ headersSent, sent, raw }: Answer): boolean {
  return headersSent === true || sent === true || raw?.headersSent === true;
}

/** On Fastify, an error that a middleware throws comes with Node's own response. */
function answerable(response: Answer | ServerResponse): Answer {
  if ('header' in response) return response;
  return {
    raw: response,
    header: (name, value) => response.setHeader(name, value),
    removeHeader: (name) => response.removeHeader(name),
    status(code) {
      response.statusCode = code;
      return { send: (body) => response.end(body) };
    },
  };
}

/** What an error may be about. */
interface About {
  readonly payment?: Payment | null;
  readonly refund?: Refund | null;
}

function bodyOf(error: PaymentError, page: PageName, language: TextLanguage): PaymentErrorBody {
  const isDuplicate = error.code === 'PAYMENT_DUPLICATE';
  const { payment, refund } = isDuplicate ? {} : (error as PaymentError & About);
  return {
    statusCode: error.httpStatus,
    code: error.code,
    message: error.message,
    tellBuyer: PAGE_TEXTS[page][language].text,
    ...(error instanceof PaymentValidationError && { issues: error.issuesIn(language) }),
    ...(error instanceof PaymentRefundError && { reason: error.reason, refundable: error.refundable }),
    ...(error instanceof PaymentHostedError && error.reason === 'page_open' && { reason: error.reason }),
    ...(payment && { conversationId: payment.conversationId, state: payment.state }),
    ...(refund && { refundId: refund.refundId, refundState: refund.state }),
  };
}

/** The page for a status, where the error itself says no more. */
const PAGE_OF_STATUS: Readonly<Record<number, PageName>> = {
  400: 'refused',
  402: 'declined',
  404: 'notFound',
  409: 'underWay',
  501: 'impossible',
  502: 'later',
  503: 'later',
};
const PAGE_OF_CODE: Readonly<Record<string, PageName>> = {
  PAYMENT_OVERLOAD: 'busy',
  // These two are also thrown while an order that has been paid is looked up.
  PAYMENT_STORE: 'storeDown',
  PAYMENT_SHUTDOWN: 'storeDown',
  // A conflict of the payment itself or of a refund, and not with another payment of the order.
  PAYMENT_STATE: 'impossible',
  PAYMENT_REFUND: 'impossible',
};

function pageOf(error: PaymentError): PageName {
  if (error instanceof PaymentValidationError) return pageOfIssues(error.issues);
  if (error instanceof PaymentDuplicateError && (error.key === 'refundId' || error.refund)) return 'impossible';
  return PAGE_OF_CODE[error.code] ?? PAGE_OF_STATUS[error.httpStatus] ?? 'shopError';
}

/** Rules that a shop's own form never breaks: the request came from something else. */
const FORM_RULES: ReadonlySet<string> = new Set(['unknownField', 'fieldCount', 'unreadable', 'isObject']);

/** Only if every mistake is in a field that the buyer fills in: a masked card comes from the host's own pipe. */
function pageOfIssues(issues: readonly ValidationIssue[]): PageName {
  if (issues.every(({ path, rule }) => isBuyersField(path) && rule !== 'masked')) return 'input';
  return issues.some(({ rule }) => FORM_RULES.has(rule)) ? 'refused' : 'notCharged';
}

/** Whether a buyer fills in the field at a path. */
function isBuyersField(path: string): boolean {
  return /^(?:cardDetails|cardHolderInfo|(?:transactionDetails\.)?installmentCount)(?:$|\.)/.test(path);
}

import type { ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, Optional } from '@nestjs/common';
import { BANK_PAGE_HEADERS } from '../payment/bank-page-headers.js';
import { SystemClock } from '../payment/clock.js';
import { LimitedLog } from '../payment/limited-log.js';
import { isTimeout, withTimeout } from '../payment/with-timeout.js';
import { plainText } from '../payment/plain-text.js';
import { preferredLanguage, type TextLanguage } from '../payment/text-language.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';
import { prefersHtml } from './accepted-html.js';
import { buyerPage, buyerPageHeaders } from './buyer-page.js';
import { BUYER_TEXTS } from './buyer-texts.js';
import { answerTo, type ErrorAnswer } from './error-answer.js';
import { PaymentError } from './payment.error.js';
import { PaymentValidationError } from './payment-validation.error.js';
import { type RefusedForm, typedAgain } from './refused-form.js';

export interface PaymentExceptionFilterOptions {
  /** Of what buyers read where a request prefers neither Turkish nor English: `tr` (default) or `en`. */
  readonly language?: TextLanguage;
  /** Where the pages' link leads: a path of this site, or an absolute http(s) URL. Default `/`. */
  readonly shopUrl?: string;
}

/** The parts that Express's response and Fastify's reply have in common. */
interface HttpResponse {
  readonly headersSent?: boolean;
  readonly sent?: boolean;
  /** Fastify's. */
  readonly raw?: { readonly headersSent?: boolean };
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  status(code: number): HttpResponse;
  send(body: string): unknown;
  /** Of Express alone, as is the next. */
  readonly writableEnded?: boolean;
  end?(): unknown;
}

interface HttpRequest {
  readonly headers?: { readonly accept?: string; readonly 'accept-language'?: string };
  readonly body?: unknown;
}

const FORM_LIMIT_MS = 10_000;
const PAGE_HEADERS = buyerPageHeaders("'none'");
const PRIVATE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
const FORM_HEADERS = { ...PRIVATE_HEADERS, 'Content-Type': 'text/html; charset=utf-8' };
const JSON_HEADERS = { ...PRIVATE_HEADERS, 'Content-Type': 'application/json; charset=utf-8' };
/** Of the answer that the route meant to give. */
const FOREIGN_HEADERS = ['Content-Length', 'Content-Encoding', 'Content-Disposition', 'ETag', 'Last-Modified'];

/**
 * Answers this module's errors over HTTP, on Express and Fastify; elsewhere (GraphQL, microservices) it rethrows them.
 * Use it with `@UseFilters(PaymentExceptionFilter)`, `APP_FILTER` or `app.useGlobalFilters(new
 * PaymentExceptionFilter())`.
 *
 * A browser that shows a page (its `Accept` names `text/html`) gets one in the buyer's language, with a link back to the
 * shop; programs get JSON, whose `tellBuyer` is what a buyer may read. To show your form again instead, extend this
 * class and override {@link PaymentExceptionFilter.form}. With `@Catch()` on your class, the errors of the application
 * itself (404, 413, 429, 500, …) are answered the same way: with a page, or with the JSON that Nest gives.
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
export class PaymentExceptionFilter implements ExceptionFilter {
  private readonly language: TextLanguage;
  private readonly shopUrl: string;
  private readonly clock = new SystemClock();
  private readonly limitedLog = new LimitedLog(this.clock);
  private readonly logger = new PaymentLogger();

  /** @throws TypeError when `shopUrl` is neither a path nor an http(s) URL */
  constructor(@Optional() { language = 'tr', shopUrl = '/' }: PaymentExceptionFilterOptions = {}) {
    if (!/^(?:\/(?![/\\])|https?:\/\/)/i.test(shopUrl)) {
      throw new TypeError('shopUrl must be a path that begins with one /, or an absolute http(s) URL');
    }
    this.language = language;
    this.shopUrl = shopUrl;
  }

  /** Never rejects: Nest does not wait for what a filter returns. */
  catch(error: unknown, host: ArgumentsHost): void | Promise<void> {
    if (host.getType() !== 'http') throw error;
    const http = host.switchToHttp();
    const response = answerable(http.getResponse<HttpResponse | ServerResponse>());
    if (isAnswered(response)) return end(response);
    const { headers = {}, body } = http.getRequest<HttpRequest>();
    const language = preferredLanguage(headers['accept-language'], this.language);
    const answer = answerTo(error);
    // As Nest does where no filter catches it.
    if (answer.isUnexpected) new PaymentLogger('ExceptionsHandler').error(error);
    response.header('Vary', varying(response.getHeader('Vary')));
    if (answer.retryAfter !== null) response.header('Retry-After', String(answer.retryAfter));
    if (!prefersHtml(headers.accept)) {
      return send(response, answer.status, JSON_HEADERS, JSON.stringify(answer.json(language)));
    }
    if (answer.isOfForm) {
      const sent = this.showForm({ error, answer, language, body, host, response });
      return sent.catch((failure: unknown) => this.logger.error(`The form could not be sent. ${reasonOf(failure)}`));
    }
    this.showPage(response, answer, language);
  }

  /**
   * Your form once more, as a whole page: for input that was refused, and for a card that was declined when a 3D payment
   * was to be started. Override it. The page is sent with the error's status and the headers that the route has set
   * (`@Header('Content-Security-Policy', …)` on the route that the form is posted to). Where this returns null or
   * throws, or takes longer than ten seconds, the buyer gets the plain page.
   *
   * @param refused escape what is `typed` (`escapeHtml`)
   * @param host the request: its parameters say which order it was
   */
  protected form(refused: RefusedForm, host: ArgumentsHost): string | null | Promise<string | null>;
  protected form(): null {
    return null;
  }

  private async showForm({ error, answer, language, body, host, response }: FormRequest): Promise<void> {
    const html = await this.formHtml(host, () => ({
      language,
      tellBuyer: BUYER_TEXTS[answer.says][language].text,
      messages: messagesOf(error, language),
      typed: typedAgain(body),
    }));
    if (isAnswered(response)) return;
    if (html === null) return this.showPage(response, answer, language);
    // Set too early, it would be the policy of the form.
    if (response.getHeader('Content-Security-Policy') === BANK_PAGE_HEADERS['Content-Security-Policy']) {
      response.removeHeader('Content-Security-Policy');
    }
    send(response, answer.status, FORM_HEADERS, html);
  }

  /** null where there is none, or none in time. */
  private async formHtml(host: ArgumentsHost, refused: () => RefusedForm): Promise<string | null> {
    try {
      const html: unknown = await withTimeout(FORM_LIMIT_MS, () => this.form(refused(), host), this.clock);
      return typeof html === 'string' && html !== '' ? html : null;
    } catch (error) {
      const why = isTimeout(error) ? `it took longer than ${FORM_LIMIT_MS / 1000} seconds` : reasonOf(error);
      this.logger.error(`The form could not be shown again; the buyer gets the plain page. ${why}`);
      return null;
    }
  }

  private showPage(response: HttpResponse, answer: ErrorAnswer, language: TextLanguage): void {
    const { status, says, forDeveloper } = answer;
    if (forDeveloper !== null) {
      this.limitedLog.write(says, (end) => this.logger.warn(`A buyer was shown a page. ${forDeveloper}${end}`));
    }
    send(response, status, PAGE_HEADERS, buyerPage(BUYER_TEXTS[says][language], language, this.shopUrl));
  }
}

interface FormRequest {
  readonly error: unknown;
  readonly answer: ErrorAnswer;
  readonly language: TextLanguage;
  readonly body: unknown;
  readonly host: ArgumentsHost;
  readonly response: HttpResponse;
}

function send(response: HttpResponse, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  for (const name of FOREIGN_HEADERS) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  response.status(status).send(body);
}

/** What was begun and then failed would keep the buyer waiting. */
function end(response: HttpResponse): void {
  if (response.writableEnded === false) response.end?.();
}

function isAnswered({ headersSent, sent, raw }: HttpResponse): boolean {
  return headersSent === true || sent === true || raw?.headersSent === true;
}

/** On Fastify, what a middleware throws comes with Node's own response. */
function answerable(response: HttpResponse | ServerResponse): HttpResponse {
  if ('header' in response) return response;
  return {
    raw: response,
    getHeader: (name) => response.getHeader(name),
    header: (name, value) => response.setHeader(name, value),
    removeHeader: (name) => response.removeHeader(name),
    status(code) {
      response.statusCode = code;
      return this;
    },
    send: (body) => response.end(body),
  };
}

/** What the host says already, and what this filter looks at. */
function varying(said: unknown): string {
  const names = (Array.isArray(said) ? said.join(',') : typeof said === 'string' ? said : '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !/^accept(?:-language)?$/i.test(name));
  return [...names, 'Accept', 'Accept-Language'].join(', ');
}

/** By the form's own paths: what a payment's `transactionDetails` takes, a form sends at its top. */
function messagesOf(error: unknown, language: TextLanguage): Record<string, string> {
  if (!(error instanceof PaymentValidationError)) return {};
  const issues = error
    .issuesIn(language)
    .map(({ path, message }) => [path.replace(/^transactionDetails\./, ''), message]);
  return Object.fromEntries(issues) as Record<string, string>;
}

/** Whatever was thrown may refuse to be looked at. */
function reasonOf(error: unknown): string {
  try {
    if (error instanceof Error) return plainText(`${error.name}: ${error.message}`, 300);
  } catch {
    // No text, then.
  }
  return 'Something that is no Error was thrown.';
}

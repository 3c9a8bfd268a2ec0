import type { ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, Optional } from '@nestjs/common';
import { BANK_PAGE_HEADERS } from '../payment/bank-page-headers.js';
import { SystemClock } from '../payment/clock.js';
import { LimitedLog } from '../payment/limited-log.js';
import { TimeoutError, withTimeout } from '../payment/with-timeout.js';
import { Masker } from '../payment/kept-text.js';
import { preferredLanguage, type TextLanguage } from '../payment/text-language.js';
import { describeThrown, thrownText } from '../payment/thrown.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { buyerPage, buyerPageHeaders, prefersHtml } from './buyer-page.js';
import { BUYER_TEXTS } from './buyer-texts.js';
import { answerTo, type ErrorAnswer } from './error-answer.js';
import { PaymentError } from './payment-errors.js';
import { PaymentValidationError } from './payment-validation.error.js';
import { type RefusedForm, typedAgain } from './refused-form.js';

export interface PaymentExceptionFilterOptions {
  /** The language for buyers whose browser asks for neither Turkish nor English: `tr` (default) or `en`. */
  readonly language?: TextLanguage;
  /** Where the link on the pages leads: a path of this site, or an absolute http(s) URL. Default `/`. */
  readonly shopUrl?: string;
}

/** What Express's response and Fastify's reply have in common, and a few members that only one of them has. */
interface HttpResponse {
  /** Express's alone. */
  readonly headersSent?: boolean;
  /** Fastify's alone. */
  readonly sent?: boolean;
  /** Fastify's alone. */
  readonly raw?: { readonly headersSent?: boolean };
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  status(code: number): HttpResponse;
  send(body: string): unknown;
  /** Express's alone. */
  readonly writableEnded?: boolean;
  /** Express's alone. */
  end?(): unknown;
}

interface HttpRequest {
  readonly headers?: { readonly accept?: string; readonly 'accept-language'?: string };
  readonly body?: unknown;
}

/** Of no request in particular: nothing is known that it carried. */
const ANY = new Masker([]);
const FORM_LIMIT_MS = 10_000;
const PAGE_HEADERS = buyerPageHeaders("'none'");
const PRIVATE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
const FORM_HEADERS = { ...PRIVATE_HEADERS, 'Content-Type': 'text/html; charset=utf-8' };
const JSON_HEADERS = { ...PRIVATE_HEADERS, 'Content-Type': 'application/json; charset=utf-8' };
/** Headers that the route may have set for the answer that it meant to send. */
const ROUTE_HEADERS = ['Content-Length', 'Content-Encoding', 'Content-Disposition', 'ETag', 'Last-Modified'];

/**
 * Answers this module's errors over HTTP, on Express and Fastify; in GraphQL and microservices it rethrows them.
 * Use it with `@UseFilters(PaymentExceptionFilter)`, `APP_FILTER` or `app.useGlobalFilters(new
 * PaymentExceptionFilter())`.
 *
 * A browser (its `Accept` names `text/html`) gets a page in the buyer's language, with a link back to the shop; a
 * program gets JSON, whose `tellBuyer` may be shown to the buyer. To show your form again instead, extend this class
 * and override {@link PaymentExceptionFilter.form}. With `@Catch()` on your class, it answers the application's own
 * errors (404, 413, 429, 500, …) in the same way: with a page, or with the JSON that Nest answers with.
 *
 * | error | status |
 * |---|---|
 * | `PaymentValidationError`, `PaymentCallbackError` | 400 |
 * | `PaymentInit3dError`: declined | 402 |
 * | `PaymentNotFoundError` | 404 |
 * | `PaymentDuplicateError`, `PaymentStateError`, `PaymentRefundError` | 409 |
 * | `PaymentInit3dError`: its reference is taken | 409 |
 * | `PaymentHostedError`: its reference is taken, or a page of the sale is open | 409 |
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

  /** Never rejects, since Nest does not wait for the promise that a filter returns. */
  catch(error: unknown, host: ArgumentsHost): void | Promise<void> {
    if (host.getType() !== 'http') throw error;
    const http = host.switchToHttp();
    const response = answerable(http.getResponse<HttpResponse | ServerResponse>());
    if (isAnswered(response)) return end(response);
    const { headers = {}, body } = http.getRequest<HttpRequest>();
    const language = preferredLanguage(headers['accept-language'], this.language);
    const answer = answerTo(error);
    if (answer.isUnexpected) this.report(error);
    response.header('Vary', varyWith(response.getHeader('Vary')));
    if (answer.retryAfter !== null) response.header('Retry-After', String(answer.retryAfter));
    if (!prefersHtml(headers.accept)) {
      return send(response, answer.status, JSON_HEADERS, JSON.stringify(answer.json(language)));
    }
    if (answer.showsForm) {
      const sent = this.showForm({ error, answer, language, body, host, response });
      return sent.catch((failure: unknown) => this.logger.error(`The form could not be sent${reasonOf(failure)}.`));
    }
    this.showPage(response, answer, language);
  }

  /**
   * Override it to show your form again, as a whole page: for input that was refused, and for a card that was declined
   * when a 3D payment was started. The page is sent with the error's status and the headers that the route has set
   * (`@Header('Content-Security-Policy', …)` on the route that the form is posted to). If this returns null, throws, or
   * takes longer than ten seconds, the buyer gets the plain page.
   *
   * @param refused escape the texts in `typed` (`escapeHtml`)
   * @param host the request, whose parameters tell the order
   */
  protected form(refused: RefusedForm, host: ArgumentsHost): string | null | Promise<string | null>;
  protected form(): null {
    return null;
  }

  private async showForm({ error, answer, language, body, host, response }: FormRequest): Promise<void> {
    const html = await this.formHtml(host, () => ({
      language,
      tellBuyer: BUYER_TEXTS[answer.buyerText][language].text,
      messages: messagesOf(error, language),
      typed: typedAgain(body),
    }));
    if (isAnswered(response)) return;
    if (html === null) return this.showPage(response, answer, language);
    // `@BankPage` sets this policy for the bank's page; it would block the form.
    if (response.getHeader('Content-Security-Policy') === BANK_PAGE_HEADERS['Content-Security-Policy']) {
      response.removeHeader('Content-Security-Policy');
    }
    send(response, answer.status, FORM_HEADERS, html);
  }

  /** @returns null if `form` returns none, or does not return in time */
  private async formHtml(host: ArgumentsHost, refused: () => RefusedForm): Promise<string | null> {
    const late = new TimeoutError();
    try {
      const html: unknown = await withTimeout(
        FORM_LIMIT_MS,
        () => this.form(refused(), host),
        this.clock,
        () => late,
      );
      return typeof html === 'string' && html !== '' ? html : null;
    } catch (error) {
      const why = error === late ? `: it took longer than ${FORM_LIMIT_MS / 1000} seconds` : reasonOf(error);
      this.logger.error(`The form could not be shown again, so the buyer gets the plain page${why}.`);
      return null;
    }
  }

  /** As Nest does if no filter catches the error, which may hold what the request brought. */
  private report(error: unknown): void {
    const thrown = describeThrown(error, ANY);
    new PaymentLogger('ExceptionsHandler').error(
      new LogRecord(`A request failed${thrownText(thrown)}.`, { ...thrown }),
    );
  }

  private showPage(response: HttpResponse, answer: ErrorAnswer, language: TextLanguage): void {
    const { status, buyerText, forDeveloper } = answer;
    if (forDeveloper !== null) {
      this.limitedLog.write(buyerText, (end) => this.logger.warn(`A buyer was shown a page. ${forDeveloper}${end}`));
    }
    send(response, status, PAGE_HEADERS, buyerPage(BUYER_TEXTS[buyerText][language], language, this.shopUrl));
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
  for (const name of ROUTE_HEADERS) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  response.status(status).send(body);
}

/** Ends an answer that was begun and then failed: otherwise the buyer would wait for the rest of it. */
function end(response: HttpResponse): void {
  if (response.writableEnded === false) response.end?.();
}

function isAnswered({ headersSent, sent, raw }: HttpResponse): boolean {
  return headersSent === true || sent === true || raw?.headersSent === true;
}

/** On Fastify, an error that a middleware throws comes with Node's own response. */
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

/** Adds the two headers that this filter reads to what the host has set. */
function varyWith(hosts: unknown): string {
  const names = (Array.isArray(hosts) ? hosts.join(',') : typeof hosts === 'string' ? hosts : '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !/^accept(?:-language)?$/i.test(name));
  return [...names, 'Accept', 'Accept-Language'].join(', ');
}

/** By the form's own paths: a form sends the fields of `transactionDetails` at its top level. */
function messagesOf(error: unknown, language: TextLanguage): Record<string, string> {
  if (!(error instanceof PaymentValidationError)) return {};
  const issues = error
    .issuesIn(language)
    .map(({ path, message }) => [path.replace(/^transactionDetails\./, ''), message]);
  return Object.fromEntries(issues) as Record<string, string>;
}

function reasonOf(thrown: unknown): string {
  return thrownText(describeThrown(thrown, ANY));
}

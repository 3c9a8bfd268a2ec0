import type { ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpStatus, Optional } from '@nestjs/common';
import { SystemClock } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { describeThrown, Masker, thrownText } from '../payment/kept-text.js';
import { preferredLanguage, type TextLanguage } from '../runtime/text-language.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';
import { buyerPage, buyerPageHeaders, prefersHtml } from './buyer-page.js';
import { BUYER_TEXTS } from '../errors/buyer-texts.js';
import { answerTo } from './error-answer.js';
import { PaymentError } from '../errors/payment-errors.js';

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
  readonly raw?: Pick<ServerResponse, 'headersSent' | 'writableEnded' | 'end' | 'statusCode'>;
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
    const response = answerable(http.getResponse<HttpResponse | ServerResponse>());
    if (isAnswered(response)) return end(response);
    const { headers = {} } = http.getRequest<HttpRequest>();
    const language = preferredLanguage(headers['accept-language'], this.language);
    const { status, buyerText, forDeveloper, isUnexpected, retryAfter, json } = answerTo(error);
    if (isUnexpected) this.logger.error(`A request failed${reasonOf(error)}.`);
    response.header('Vary', varyWith(response.getHeader('Vary')));
    if (retryAfter !== null) response.header('Retry-After', String(retryAfter));
    if (!prefersHtml(headers.accept)) return send(response, status, JSON_HEADERS, JSON.stringify(json(language)));
    if (forDeveloper !== null) {
      this.limitedLog.write(buyerText, (end) => this.logger.warn(`A buyer was shown a page. ${forDeveloper}${end}`));
    }
    send(response, status, PAGE_HEADERS, buyerPage(BUYER_TEXTS[buyerText][language], language, this.shopUrl));
  }
}

function send(response: HttpResponse, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  for (const name of ROUTE_HEADERS) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  response.status(status).send(body);
}

/** Ends an answer that was begun and then failed: otherwise the buyer would wait for the rest of it. */
function end(response: HttpResponse): void {
  if (response.writableEnded === false) response.end?.();
  const { raw } = response;
  if (raw?.writableEnded !== false) return;
  if (!raw.headersSent) raw.statusCode = HttpStatus.INTERNAL_SERVER_ERROR;
  raw.end();
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

function reasonOf(thrown: unknown): string {
  return thrownText(describeThrown(thrown, ANY));
}

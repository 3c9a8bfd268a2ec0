import { isPromise } from 'node:util/types';
import { Injectable } from '@nestjs/common';
import {
  PaymentCallbackError,
  PaymentShutdownError,
  PaymentStateError,
  PaymentStoreError,
} from '../errors/payment-errors.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { resultUrlProblem } from '../options/url-checks.js';
import { isKnown, type Payment } from '../payment/payment.js';
import type { PaymentState } from '../payment/states.js';
import { preferredLanguage } from '../runtime/text-language.js';
import { describeHostError, type Thrown, thrownText } from '../payment/kept-text.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { PaymentClock } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import type { CallbackResult } from './callback-receiver.js';
import { buyerPage, buyerPageHeaders, type HttpResponse, type PageName, send } from './pages.js';

type Outcome = Extract<PageName, 'success' | 'failure' | 'pending'>;

/** Where the buyer is sent in each state. A payment that has not begun counts as failed: nothing was paid. */
const OUTCOME_OF: Readonly<Record<PaymentState, Outcome>> = {
  succeeded: 'success',
  failed: 'failure',
  expired: 'failure',
  initiating: 'failure',
  awaiting: 'pending',
  charging: 'pending',
  authorizing: 'pending',
  pending: 'pending',
  unknown: 'pending',
  review: 'pending',
};

const HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};
/** The shop may have shown the bank in a frame; this page then appears in that frame. */
const PAGE_HEADERS = buyerPageHeaders("'self'");
const LEAVING_HEADERS = buyerPageHeaders("'self'", true);

/** Answers the buyer's browser, on Express and on Fastify. */
@Injectable()
export class CallbackResponder {
  private readonly logger = new PaymentLogger();
  private readonly limited: LimitedLog;

  constructor(
    private readonly settings: PaymentSettings,
    clock: PaymentClock,
  ) {
    this.limited = new LimitedLog(clock);
  }

  /**
   * Redirects (303) to the merchant's page with `?conversationId=`, or shows a page of the module. In the frame of an
   * embedded form, a page of the module takes the whole window to the merchant's page.
   *
   * @param acceptLanguage the browser's; if it names neither Turkish nor English, the option `language` decides
   */
  sendOn(
    response: HttpResponse,
    { payment, isHeld }: CallbackResult,
    acceptLanguage?: string,
    isInFrame = false,
  ): void {
    const outcome = isHeld ? 'pending' : outcomeOf(payment);
    const url = this.resultUrl(outcome, payment);
    if (url === null) this.page(response, 200, outcome, acceptLanguage);
    else if (isInFrame && payment.kind === 'hosted') this.leaveFrame(response, outcome, url, acceptLanguage);
    else send(response, 303, { ...HEADERS, Location: url }, '');
  }

  /**
   * Refuses the callback without repeating what was received. Logs a few of each kind a minute, so that they cannot
   * fill the log.
   *
   * @throws the error itself if it is not one of the module's
   */
  refuse(response: HttpResponse, error: unknown, acceptLanguage?: string): void {
    if (error instanceof PaymentCallbackError) {
      const { refusal, message, code } = error;
      this.limited.write(refusal, (end) => this.logger.warn(new LogRecord(message + end, { code, refusal })));
      this.page(response, error.refusal === 'unknown_token' ? 404 : 400, 'refused', acceptLanguage);
    } else if (error instanceof PaymentShutdownError) {
      // The payment still waits for its callback: a reload reaches another instance, or this one after its restart.
      this.page(response, 503, 'reload', acceptLanguage);
    } else if (error instanceof PaymentStoreError || error instanceof PaymentStateError) {
      // Of another gateway, it waits, too: a reload reaches an instance with the settings of that one.
      const { message, code } = error;
      const line = `A callback could not be served; the buyer is asked to reload. ${message}`;
      this.limited.write(code, (end) => this.logger.error(new LogRecord(line + end, { code })));
      this.page(response, error.httpStatus, 'reload', acceptLanguage);
    } else throw error;
  }

  /** For a browser that is only prefetching. */
  sendNothing(response: HttpResponse): void {
    send(response, 204, HEADERS, '');
  }

  private resultUrl(outcome: Outcome, payment: Payment): string | null {
    const target = this.settings[`${outcome}Url`];
    if (target === null) return null;
    const given = typeof target === 'string' ? { url: target } : this.urlFrom(() => target(payment));
    if ('url' in given) return withConversationId(given.url, payment.conversationId);
    const { problem, thrown } = given;
    const { conversationId, reference, account } = payment;
    const line =
      `Payment ${conversationId}: ${outcome}Url returned no usable URL; the built-in page is shown. The function ` +
      `${problem}${thrown ? thrownText(thrown) : ''}.`;
    this.logger.error(new LogRecord(line, { conversationId, reference, account, ...thrown }));
    return null;
  }

  private urlFrom(give: () => unknown): GivenUrl {
    let given;
    try {
      given = give();
    } catch (error) {
      return { problem: 'threw', thrown: describeHostError(error, this.settings.credentials) };
    }
    if (isPromise(given)) {
      // The types forbid an async function; if one is given, its rejection must not end the process.
      given.catch(() => undefined);
      return { problem: 'is async: it must return the URL itself' };
    }
    if (typeof given !== 'string') return { problem: 'did not return a string' };
    const problem = resultUrlProblem(given);
    return problem === null ? { url: given } : { problem: `returned a string that is not a usable URL: it ${problem}` };
  }

  private page(response: HttpResponse, status: number, page: PageName, acceptLanguage?: string): void {
    const language = preferredLanguage(acceptLanguage, this.settings.language);
    send(response, status, PAGE_HEADERS, buyerPage(page, language, this.shopUrl()));
  }

  private leaveFrame(response: HttpResponse, outcome: Outcome, url: string, acceptLanguage?: string): void {
    const language = preferredLanguage(acceptLanguage, this.settings.language);
    send(response, 200, LEAVING_HEADERS, buyerPage(outcome, language, url, true));
  }

  /** The shop's URL for buyers; the root of this site if neither option is set (as with the embedded simulator). */
  private shopUrl(): string {
    const { publicUrl, callbackUrl } = this.settings;
    return publicUrl ?? (callbackUrl ? new URL(callbackUrl).origin : '/');
  }
}

function outcomeOf(payment: Payment): Outcome {
  if (!isKnown(payment)) return 'pending';
  // The page stays open for another card, but this buyer has come back without having paid.
  if (payment.state === 'pending' && payment.reason === 'declined') return 'failure';
  return OUTCOME_OF[payment.state];
}

/** What a host's function returned, or what is wrong with it. */
type GivenUrl = { readonly url: string } | { readonly problem: string; readonly thrown?: Thrown };

function withConversationId(url: string, conversationId: string): string {
  const isPath = url.startsWith('/');
  const parsed = new URL(url, 'http://path.invalid');
  parsed.searchParams.set('conversationId', conversationId);
  return isPath ? parsed.href.slice(parsed.origin.length) : parsed.href;
}

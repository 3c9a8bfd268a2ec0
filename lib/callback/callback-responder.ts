import { isPromise } from 'node:util/types';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { buyerPageHeaders } from '../errors/buyer-page.js';
import { PaymentCallbackError, PaymentShutdownError, PaymentStoreError } from '../errors/payment-errors.js';
import { describeHostError } from '../gateway/redaction.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { resultUrlProblem } from '../options/url-checks.js';
import { isKnown, type Payment } from '../payment/payment.js';
import type { PaymentState } from '../payment/payment-state.js';
import { preferredLanguage } from '../payment/text-language.js';
import { type Thrown, thrownText } from '../payment/thrown.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { RefusalLog } from './refusal-log.js';
import { type ResultPageKind, resultPage } from './result-page.js';

type Outcome = Extract<ResultPageKind, 'success' | 'failure' | 'pending'>;

/** Where the buyer goes from each state. What has not begun is as good as failed: nothing was paid. */
const OUTCOME_OF: Readonly<Record<PaymentState, Outcome>> = {
  succeeded: 'success',
  failed: 'failure',
  expired: 'failure',
  initiating: 'failure',
  awaiting: 'pending',
  charging: 'pending',
  authorizing: 'pending',
  unknown: 'pending',
  review: 'pending',
};

const HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};
/** A bank may have been shown in a frame of the shop, and comes back inside it. */
const PAGE_HEADERS = buyerPageHeaders("'self'");

/** Answers the buyer's browser, on Express and Fastify alike. */
@Injectable()
export class CallbackResponder {
  private readonly logger = new PaymentLogger();

  /** Private to the language, too: printed, it would show the whole application. */
  readonly #host: HttpAdapterHost;

  constructor(
    host: HttpAdapterHost,
    private readonly refusals: RefusalLog,
    private readonly settings: PaymentSettings,
  ) {
    this.#host = host;
  }

  /**
   * 303 to the merchant's page with `?conversationId=`, or a page of our own.
   *
   * @param acceptLanguage the browser's; the option `language` decides where it names neither Turkish nor English
   */
  sendOn(response: unknown, payment: Payment, acceptLanguage?: string): void {
    const outcome = isKnown(payment) ? OUTCOME_OF[payment.state] : 'pending';
    const url = this.resultUrl(outcome, payment);
    const isTaken = outcome === 'failure' && payment.reason === 'reference_taken';
    if (url === null) this.page(response, 200, isTaken ? 'taken' : outcome, acceptLanguage);
    else this.reply(response, 303, '', { ...HEADERS, Location: url });
  }

  /** Refuses without repeating what was received. @throws the error when it is none that it knows */
  refuse(response: unknown, error: unknown, acceptLanguage?: string): void {
    if (error instanceof PaymentStoreError) {
      this.refusals.error(error);
      this.page(response, 503, 'unavailable', acceptLanguage);
    } else if (error instanceof PaymentShutdownError) {
      // The payment still waits: a reload reaches another instance, or this one once it is back.
      this.page(response, 503, 'unavailable', acceptLanguage);
    } else if (error instanceof PaymentCallbackError) {
      this.refusals.warn(error);
      this.page(response, error.refusal === 'unknown_token' ? 404 : 400, 'refused', acceptLanguage);
    } else throw error;
  }

  /** To a browser that only looks ahead. */
  nothing(response: unknown): void {
    this.reply(response, 204, '', HEADERS);
  }

  private resultUrl(outcome: Outcome, payment: Payment): string | null {
    const target = this.settings[`${outcome}Url`];
    if (target === null) return null;
    const given = typeof target === 'string' ? { url: target } : this.urlFrom(() => target(payment), payment);
    if ('url' in given) return withConversationId(given.url, payment.conversationId);
    const { problem, thrown } = given;
    const { conversationId, reference, account } = payment;
    const line =
      `Payment ${conversationId}: ${outcome}Url gave no usable URL; the built-in page is shown. The function ` +
      `${problem}${thrown ? thrownText(thrown) : ''}.`;
    this.logger.error(new LogRecord(line, { conversationId, reference, account, ...thrown }));
    return null;
  }

  private urlFrom(give: () => unknown, payment: Payment): GivenUrl {
    let given;
    try {
      given = give();
    } catch (error) {
      return { problem: 'threw', thrown: describeHostError(error, this.settings.credentials, payment) };
    }
    if (isPromise(given)) {
      // Of an async function, which the type forbids: its rejection must not end the process.
      given.catch(() => undefined);
      return { problem: 'is async: it must return the address itself' };
    }
    if (typeof given !== 'string') return { problem: 'returned no text' };
    const problem = resultUrlProblem(given);
    return problem === null ? { url: given } : { problem: `returned a text that is no address: it ${problem}` };
  }

  private page(response: unknown, status: number, kind: ResultPageKind, acceptLanguage?: string): void {
    const language = preferredLanguage(acceptLanguage, this.settings.language);
    this.reply(response, status, resultPage(kind, language, this.shopUrl()), PAGE_HEADERS);
  }

  /** Where the shop is, as buyers reach it; with neither setting (the embedded simulator), on this site. */
  private shopUrl(): string {
    const { publicUrl, callbackUrl } = this.settings;
    return publicUrl ?? (callbackUrl ? new URL(callbackUrl).origin : '/');
  }

  private reply(response: unknown, status: number, body: string, headers: Readonly<Record<string, string>>): void {
    const { httpAdapter } = this.#host;
    for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(response, name, value);
    httpAdapter.reply(response, body, status);
  }
}

/** What a host's function gave, or what is wrong with it. */
type GivenUrl = { readonly url: string } | { readonly problem: string; readonly thrown?: Thrown };

function withConversationId(url: string, conversationId: string): string {
  const isPath = url.startsWith('/');
  const parsed = new URL(url, 'http://path.invalid');
  parsed.searchParams.set('conversationId', conversationId);
  return isPath ? parsed.href.slice(parsed.origin.length) : parsed.href;
}

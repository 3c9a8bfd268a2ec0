import type { Payment, PaymentOptions, PaymentReason, PaymentState } from 'nestjs-card-payment';
import { CallbackResponder } from '../../lib/http/callback-responder.js';
import {
  type CallbackRefusal,
  PaymentCallbackError,
  PaymentShutdownError,
  PaymentStoreError,
} from '../../lib/errors/payment-errors.js';
import { buyerPage, type HttpResponse, type PageName } from '../../lib/http/pages.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { toPayment } from '../../lib/payment/payment.js';
import { logLines } from '../operations/log-lines.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { expectCases } from '../rigs/case-texts.js';

/** As far as both adapters have it. */
interface Answer {
  status?: number;
  body?: string;
  readonly headers: Record<string, string>;
}

const URLS = {
  successUrl: 'https://shop.example/paid',
  failureUrl: 'https://shop.example/failed',
  pendingUrl: 'https://shop.example/pending',
};
const PRIVACY_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const PAGE_POLICY = /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'self'$/;

/** What a page says. */
const textOf = ({ body = '' }: Pick<Answer, 'body'>): string =>
  body
    .replace(/^.*<main>/s, '')
    .replace(/<\/[^>]+>/g, ' ')
    .replace(/<[^>]+>/g, '')
    .trim();

/** A page links to the shop alone, even from within a frame, loads nothing and runs no script. */
function ofPage(name: string): string {
  return (['en', 'tr'] as const)
    .map((language) => {
      const page = buyerPage(name as PageName, language, `https://shop.example/?a='1'&b="2"`);
      expect(page).toMatch(new RegExp(`^<!doctype html><html lang="${language}"><head><meta charset="utf-8">`));
      expect(page).toMatch(
        /<title>[^<]+<\/title>.*<main><h1>[^<]+<\/h1><p>[^<]+<\/p><p><a .*<\/main><\/body><\/html>$/,
      );
      expect(page.match(/href=/g)).toHaveLength(1);
      expect(page).toContain('<a href="https://shop.example/?a=&#39;1&#39;&#38;b=&#34;2&#34;" target="_top">');
      expect(page).not.toMatch(/<script|<link|<img|<form|src=|url\(/i);
      return textOf({ body: page });
    })
    .join('\n');
}

/** Refusals for which the callback is not to blame. */
const OTHER_REFUSALS: Readonly<Record<string, Error>> = {
  'the store fails': new PaymentStoreError('reading'),
  'the process shuts down': new PaymentShutdownError(),
};

const INVALID_URL = /returned a string that is not a usable URL: it must be an absolute http\(s\) URL/;

describe('the answer to the buyer', () => {
  const clock = new TestClock();
  const records: unknown[] = [];
  const log = logLines(records);

  function answerOf(
    act: (responder: CallbackResponder, answer: HttpResponse) => void,
    options: PaymentOptions = {},
  ): Answer {
    const answer: Answer = { headers: {} };
    const response: HttpResponse = {
      header: (name, value) => (answer.headers[name] = value),
      status: (status) => ({ send: (body) => Object.assign(answer, { status, body }) }),
    };
    const none = {
      successUrl: null,
      failureUrl: null,
      pendingUrl: null,
      publicUrl: null,
      callbackUrl: null,
      language: 'en',
      credentials: { clientSecret: 'a secret of ours', apiKey: 'a key of ours' },
    };
    const settings = { ...none, ...options } as PaymentSettings;
    act(new CallbackResponder(settings, clock), response);
    return answer;
  }

  function answerFor(payment: Payment, options: PaymentOptions = {}, isHeld = false): Answer {
    return answerOf((responder, answer) => responder.sendOn(answer, { payment, isHeld }), options);
  }

  /** A state, its reason, and whether the order is held by whom nobody knows. @returns with pages of the shop; without */
  function ofPayment(input: string): string {
    const [state, reason = null, held] = input.split(' ');
    const payment = toPayment(aPaymentRecord({ state: state as PaymentState, reason: reason as PaymentReason | null }));
    const { status, headers, body } = answerFor(payment, URLS, held === 'held');
    const { Location, ...others } = headers;
    expect([others, body]).toEqual([PRIVACY_HEADERS, '']);
    const own = answerFor(payment, {}, held === 'held');
    expect(own.headers).toMatchObject({ ...PRIVACY_HEADERS, 'Content-Type': 'text/html; charset=utf-8' });
    expect(own.headers['Content-Security-Policy']).toMatch(PAGE_POLICY);
    expect(own.headers['Location']).toBeUndefined();
    expect(log).toEqual([]);
    return `${status} ${Location}\n${own.status} ${textOf(own)}`;
  }

  /** Of whatever was received, nothing is repeated, and there is no redirect. */
  function ofRefusal(refusal: string): string {
    log.length = 0;
    const error = OTHER_REFUSALS[refusal] ?? new PaymentCallbackError(refusal as CallbackRefusal);
    const answer = answerOf((responder, response) => responder.refuse(response, error), URLS);
    expect(answer.headers['Location']).toBeUndefined();
    expect(answer.headers).toMatchObject(PRIVACY_HEADERS);
    return `${answer.status} ${textOf(answer)}\n${log.splice(0).join('\n') || '(no log line)'}`;
  }

  /** The option, and what the browser accepts. @returns the language and title of a page, of a refusal's, too */
  function ofLanguage(input: string): string {
    const [language, accepted] = JSON.parse(input) as [string, string?];
    const error = new PaymentCallbackError('unknown_token');
    const result = { payment: toPayment(aPaymentRecord({ state: 'succeeded' })), isHeld: false };
    const pages = [
      answerOf((responder, answer) => responder.sendOn(answer, result, accepted), { language }),
      answerOf((responder, answer) => responder.refuse(answer, error, accepted), { language }),
    ];
    return pages
      .map(({ body = '' }) => /<html lang="([^"]*)">.*<title>(.*)<\/title>/.exec(body)?.slice(1).join(': '))
      .join('; ');
  }

  /** Where the link of a page leads, by the options. */
  function ofLink(input: string): string {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    const { body = '', headers } = answerFor(payment, JSON.parse(input) as PaymentOptions);
    expect(headers['Content-Security-Policy']).toMatch(PAGE_POLICY);
    return /<a href="([^"]*)" target="_top">/.exec(body)?.[1] ?? 'nowhere';
  }

  it('is that of expected/answers.txt', () =>
    expectCases(import.meta.url, 'answers.txt', {
      'A payment, where the shop has pages, and where it has none': ofPayment,
      'A refused callback, and the log': ofRefusal,
      'A page in both languages': ofPage,
      'The language: the option, and what the browser accepts': ofLanguage,
      'Where the link of a page leads': ofLink,
    }));

  describe('with a function as successUrl', () => {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    const answerWith = (successUrl: PaymentOptions['successUrl']): Answer => answerFor(payment, { successUrl });

    it('redirects to the URL that it returns, with its query and the real conversationId', () => {
      const { headers } = answerWith(({ reference }) => `/orders/${reference}?lang=tr&conversationId=forged#top`);
      expect(headers['Location']).toBe(`/orders/order-1?lang=tr&conversationId=${payment.conversationId}#top`);
    });

    it.each<[string, () => unknown, RegExp]>([
      [
        'throws',
        () => {
          throw new Error('card 4508034508034509');
        },
        /threw: Error: card, at .*test\/http\/callback-responder\.spec\.ts:\d+:\d+/,
      ],
      ['returns nothing', () => undefined, /did not return a string/],
      ['returns a promise', () => Promise.resolve('/paid'), /is async: it must return the URL itself/],
      ['returns a script URL', () => 'javascript:alert(1)', INVALID_URL],
      ['returns a protocol-relative URL', () => '//evil.example/paid', INVALID_URL],
      ['returns a URL with credentials', () => 'https://user:secret@shop.example/paid', INVALID_URL],
    ])('that %s, is the built-in page, and the problem is logged', (_what, successUrl, problem) => {
      const { status, body, headers } = answerWith(successUrl as () => string);
      expect(status).toBe(200);
      expect(body).toContain('Payment received');
      expect(headers['Location']).toBeUndefined();
      expect(log).toEqual([
        expect.stringContaining(
          `error Payment ${payment.conversationId}: successUrl returned no usable URL; the built-in page is shown.`,
        ),
      ]);
      expect(log[0]).toMatch(problem);
      expect(log[0]).not.toMatch(/4508034508034509|secret|evil|alert/);
      const { conversationId, reference, account } = payment;
      expect(records).toMatchObject([{ conversationId, reference, account }]);
    });
  });

  it('is the built-in page if an async successUrl rejects, without an unhandled rejection', async () => {
    const rejections: unknown[] = [];
    const record = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', record);
    const successUrl = (() => Promise.reject(new Error('no address'))) as unknown as () => string;
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    const { status, body } = answerFor(payment, { successUrl });
    await new Promise(setImmediate);
    process.off('unhandledRejection', record);
    expect([status, rejections]).toEqual([200, []]);
    expect(body).toMatch(/Payment received/);
  });

  it('is left to the host for an error that is none of the module’s', () => {
    const error = new Error('a bug');
    expect(() => answerOf((responder, answer) => responder.refuse(answer, error), URLS)).toThrow(error);
  });

  it('stays in the frame in which the shop showed the bank', () => {
    const result = { payment: toPayment(aPaymentRecord({ state: 'succeeded', kind: '3d' })), isHeld: false };
    const { status } = answerOf((responder, answer) => responder.sendOn(answer, result, undefined, true), URLS);
    expect(status).toBe(303);
  });

  it('is logged of refusals three times a minute for each kind, and then how many more there were', async () => {
    const responder = new CallbackResponder({ language: 'tr' } as PaymentSettings, clock);
    const response = { header: () => undefined, status: () => ({ send: () => undefined }) };
    const refuse = (error: Error, times: number): void => {
      for (let time = 0; time < times; time += 1) responder.refuse(response, error);
    };
    const line = 'warn The callback was refused: unknown token.';
    const failure = new PaymentStoreError('reading');
    const failed = `error A callback could not be served; the buyer is asked to reload. ${failure.message}`;
    refuse(new PaymentCallbackError('unknown_token'), 1_000);
    refuse(failure, 3);
    expect(log.splice(0)).toEqual([line, line, line, failed, failed, failed]);
    expect(records[0]).toMatchObject({ code: 'PAYMENT_CALLBACK', refusal: 'unknown_token' });
    expect(records.at(-1)).toMatchObject({ code: 'PAYMENT_STORE' });
    await clock.advance(60_000);
    refuse(new PaymentCallbackError('unknown_token'), 1);
    expect(log).toEqual([`${line} 997 more in the same minute were not logged.`, line]);
  });

  it('is empty for a prefetch', () => {
    const { status, body, headers } = answerOf((responder, answer) => responder.sendNothing(answer));
    expect({ status, body, headers }).toEqual({ status: 204, body: '', headers: PRIVACY_HEADERS });
  });
});

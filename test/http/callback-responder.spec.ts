import type { Payment, PaymentOptions, PaymentState } from 'nestjs-card-payment';
import { CallbackResponder } from '../../lib/http/callback-responder.js';
import {
  type CallbackRefusal,
  PaymentCallbackError,
  PaymentShutdownError,
  PaymentStoreError,
} from '../../lib/errors/payment-errors.js';
import type { HttpResponse } from '../../lib/http/pages.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { toPayment } from '../../lib/payment/payment.js';
import { logLines } from '../operations/log-lines.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

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
const STATES: [PaymentState, 'paid' | 'failed' | 'pending', RegExp][] = [
  ['succeeded', 'paid', /Payment received/],
  ['failed', 'failed', /No money was taken/],
  ['expired', 'failed', /No money was taken/],
  ['initiating', 'failed', /No money was taken/],
  ['awaiting', 'pending', /do not pay again/],
  ['charging', 'pending', /do not pay again/],
  ['authorizing', 'pending', /do not pay again/],
  ['unknown', 'pending', /do not pay again/],
  ['review', 'pending', /do not pay again/],
];
const PRIVACY_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const INVALID_URL = /returned a string that is not a usable URL: it must be an absolute http\(s\) URL/;

describe('the answer to the buyer', () => {
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
    act(new CallbackResponder(settings, new TestClock()), response);
    return answer;
  }

  function answerFor(payment: Payment, options: PaymentOptions = {}, isHeld = false): Answer {
    return answerOf((responder, answer) => responder.sendOn(answer, { payment, isHeld }), options);
  }

  describe.each(STATES)('for a payment that is %s', (state, page, text) => {
    const payment = toPayment(aPaymentRecord({ state }));

    it(`redirects to the merchant's page "${page}", with the conversationId`, () => {
      const { status, headers, body } = answerFor(payment, URLS);
      const Location = `https://shop.example/${page}?conversationId=${payment.conversationId}`;
      expect({ status, headers, body }).toEqual({ status: 303, headers: { ...PRIVACY_HEADERS, Location }, body: '' });
    });

    it('is a built-in page without a URL of the merchant', () => {
      const { status, headers, body } = answerFor(payment);
      expect(status).toBe(200);
      expect(body).toMatch(text);
      expect(headers).toMatchObject({ ...PRIVACY_HEADERS, 'Content-Type': 'text/html; charset=utf-8' });
      expect(headers['Content-Security-Policy']).toMatch(/^default-src 'none';.* frame-ancestors 'self'$/);
      expect(headers['Location']).toBeUndefined();
      expect(log).toEqual([]);
    });
  });

  it('for a payment whose order is held, by whom nobody knows, does not say that no money was taken', () => {
    const payment = toPayment(aPaymentRecord({ state: 'failed', reason: 'reference_taken' }));
    const location = `https://shop.example/pending?conversationId=${payment.conversationId}`;
    expect(answerFor(payment, URLS, true).headers['Location']).toBe(location);
    const { body } = answerFor(payment, {}, true);
    expect(body).toMatch(/not known yet. Please do not pay again/);
    expect(body).not.toMatch(/No money was taken/);
  });

  describe('in a language', () => {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));

    it.each([
      ['tr', undefined, 'tr'],
      ['TR', undefined, 'tr'],
      ['tr-TR', undefined, 'tr'],
      ['en', undefined, 'en'],
      ['de', undefined, 'en'],
      ['"><script>', undefined, 'en'],
      ['tr', 'en-GB,en;q=0.9', 'en'],
      ['en', 'tr-TR,tr;q=0.9,en;q=0.8', 'tr'],
      ['tr', 'de-DE,de;q=0.9', 'tr'],
      ['tr', '"><script>', 'tr'],
    ])('chosen by the option %j and a browser that accepts %j is in %s', (language, accepted, lang) => {
      const page = answerOf((responder, answer) => responder.sendOn(answer, { payment, isHeld: false }, accepted), {
        language,
      });
      expect(page.body).toContain(`<html lang="${lang}">`);
      const error = new PaymentCallbackError('unknown_token');
      const refusal = answerOf((responder, answer) => responder.refuse(answer, error, accepted), { language });
      expect(refusal.body).toContain(`<html lang="${lang}">`);
    });
  });

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
      ['returns an empty string', () => '', INVALID_URL],
      ['returns a relative path', () => 'paid', INVALID_URL],
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

  describe('to a refused callback', () => {
    const answerToRefused = (error: unknown): Answer =>
      answerOf((responder, answer) => responder.refuse(answer, error), URLS);

    it.each<[CallbackRefusal, number]>([
      ['unknown_token', 404],
      ['not_a_callback', 400],
      ['repeated_field', 400],
      ['nested_field', 400],
      ['too_large', 400],
      ['missing_field', 400],
      ['foreign_payment', 400],
    ])('with the reason %s is %i and a page, never a redirect', (refusal, expected) => {
      const { status, body, headers } = answerToRefused(new PaymentCallbackError(refusal));
      expect(status).toBe(expected);
      expect(body).toContain('This page cannot be shown');
      expect(headers['Location']).toBeUndefined();
      expect(headers).toMatchObject(PRIVACY_HEADERS);
      expect(log).toEqual([`warn The callback was refused: ${refusal.replaceAll('_', ' ')}.`]);
    });

    it('asks for a reload if the store failed', () => {
      const { status, body } = answerToRefused(new PaymentStoreError('reading'));
      expect([status, body]).toEqual([503, expect.stringContaining('reload this page')]);
    });

    it('asks for a reload, which another instance serves, if the process shuts down', () => {
      const { status, body, headers } = answerToRefused(new PaymentShutdownError());
      expect([status, headers]).toEqual([503, expect.objectContaining(PRIVACY_HEADERS)]);
      expect(body).toBe(answerToRefused(new PaymentStoreError('reading')).body);
    });

    it('is left to the host for any other error', () => {
      const error = new Error('a bug');
      expect(() => answerToRefused(error)).toThrow(error);
    });
  });

  it('is empty for a prefetch', () => {
    const { status, body, headers } = answerOf((responder, answer) => responder.sendNothing(answer));
    expect({ status, body, headers }).toEqual({ status: 204, body: '', headers: PRIVACY_HEADERS });
  });

  it.each<[string, PaymentOptions, string]>([
    [
      'publicUrl',
      { publicUrl: 'https://shop.example/tr', callbackUrl: 'https://pay.example/back' },
      'https://shop.example/tr',
    ],
    ['the origin of callbackUrl', { callbackUrl: 'https://pay.example/back' }, 'https://pay.example'],
    ['the same origin with the embedded simulator', {}, '/'],
  ])('links to the shop at %s', (_what, options, href) => {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    const { body, headers } = answerFor(payment, options);
    expect(body).toContain(`<a href="${href}" target="_top">`);
    expect(headers['Content-Security-Policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'self'$/,
    );
  });

  it('is in the language of the option', () => {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    expect(answerFor(payment, { language: 'tr' }).body).toContain('Ödeme alındı');
  });
});

import type { HttpAdapterHost } from '@nestjs/core';
import type { Payment, PaymentOptions, PaymentState } from 'nestjs-card-payment';
import { CallbackResponder, RefusalLog } from '../../lib/callback/callback-responder.js';
import {
  type CallbackRefusal,
  PaymentCallbackError,
  PaymentShutdownError,
  PaymentStoreError,
} from '../../lib/errors/payment-errors.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { toPayment } from '../../lib/payment/payment.js';
import { logLines } from '../flows/log-lines.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';
import { TestClock } from '../../lib/testing/test-clock.js';

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
const PRIVATE = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' };

const NO_ADDRESS = /returned a text that is no address: it must be an absolute http\(s\) URL/;

describe('what the buyer is answered', () => {
  const records: unknown[] = [];
  const log = logLines(records);

  function answered(act: (responder: CallbackResponder, answer: Answer) => void, options: PaymentOptions = {}): Answer {
    const answer: Answer = { headers: {} };
    const httpAdapter = {
      setHeader: (to: Answer, name: string, value: string) => (to.headers[name] = value),
      reply: (to: Answer, body: string, status: number) => Object.assign(to, { body, status }),
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
    const refusals = new RefusalLog(new TestClock());
    act(new CallbackResponder({ httpAdapter } as unknown as HttpAdapterHost, refusals, settings), answer);
    return answer;
  }

  function sentOn(payment: Payment, options: PaymentOptions = {}): Answer {
    return answered((responder, answer) => responder.sendOn(answer, payment), options);
  }

  describe.each(STATES)('of a payment that is %s', (state, place, text) => {
    const payment = toPayment(aPaymentRecord({ state }));

    it(`is the way to the page for ${place}, with the payment's id`, () => {
      const { status, headers, body } = sentOn(payment, URLS);
      const Location = `https://shop.example/${place}?conversationId=${payment.conversationId}`;
      expect({ status, headers, body }).toEqual({ status: 303, headers: { ...PRIVATE, Location }, body: '' });
    });

    it('or a page that says so', () => {
      const { status, headers, body } = sentOn(payment);
      expect(status).toBe(200);
      expect(body).toMatch(text);
      expect(headers).toMatchObject({ ...PRIVATE, 'Content-Type': 'text/html; charset=utf-8' });
      expect(headers['Content-Security-Policy']).toMatch(/^default-src 'none';.* frame-ancestors 'self'$/);
      expect(headers['Location']).toBeUndefined();
      expect(log).toEqual([]);
    });
  });

  it('of a payment whose order has another is that page for failed, but says nothing of no money', () => {
    const payment = toPayment(aPaymentRecord({ state: 'failed', reason: 'reference_taken' }));
    expect(sentOn(payment, URLS).headers['Location']).toMatch('https://shop.example/failed?');
    const { body } = sentOn(payment);
    expect(body).toMatch(/has been paid or is being paid. Please do not pay again/);
    expect(body).not.toMatch(/No money was taken/);
  });

  describe('in which language', () => {
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
    ])('with the option %j, to a browser that accepts %j: %s', (language, accepted, lang) => {
      const page = answered((responder, answer) => responder.sendOn(answer, payment, accepted), { language });
      expect(page.body).toContain(`<html lang="${lang}">`);
      const error = new PaymentCallbackError('unknown_token');
      const refusal = answered((responder, answer) => responder.refuse(answer, error, accepted), { language });
      expect(refusal.body).toContain(`<html lang="${lang}">`);
    });
  });

  describe('where the merchant gives a function', () => {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    const at = (successUrl: PaymentOptions['successUrl']): Answer => sentOn(payment, { successUrl });

    it('is the way to what it gives, in which its own query stays and the id is ours', () => {
      const { headers } = at(({ reference }) => `/orders/${reference}?lang=tr&conversationId=forged#top`);
      expect(headers['Location']).toBe(`/orders/order-1?lang=tr&conversationId=${payment.conversationId}#top`);
    });

    it.each<[string, () => unknown, RegExp]>([
      [
        'throws',
        () => {
          throw new Error('card 4508034508034509');
        },
        /threw: Error: card \*+, at .*test\/callback\/callback-responder\.spec\.ts:\d+:\d+/,
      ],
      ['gives no text', () => undefined, /returned no text/],
      ['gives a promise', () => Promise.resolve('/paid'), /is async: it must return the address itself/],
      ['gives an address of a script', () => 'javascript:alert(1)', NO_ADDRESS],
      ['gives the way to another site', () => '//evil.example/paid', NO_ADDRESS],
      ['gives credentials', () => 'https://user:secret@shop.example/paid', NO_ADDRESS],
      ['gives an empty text', () => '', NO_ADDRESS],
      ['gives what is relative', () => 'paid', NO_ADDRESS],
    ])('that %s, is the built-in page, and the log says so', (_what, give, problem) => {
      const { status, body, headers } = at(give as () => string);
      expect(status).toBe(200);
      expect(body).toContain('Payment received');
      expect(headers['Location']).toBeUndefined();
      expect(log).toEqual([
        expect.stringContaining(
          `error Payment ${payment.conversationId}: successUrl gave no usable URL; the built-in page is shown.`,
        ),
      ]);
      expect(log[0]).toMatch(problem);
      expect(log[0]).not.toMatch(/4508034508034509|secret|evil|alert/);
      const { conversationId, reference, account } = payment;
      expect(records).toMatchObject([{ conversationId, reference, account }]);
    });
  });

  it('is a page of our own where a function for the address rejects, which ends no process', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', note);
    const successUrl = (() => Promise.reject(new Error('no address'))) as unknown as () => string;
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    const { status, body } = answered((responder, answer) => responder.sendOn(answer, payment), { successUrl });
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect([status, rejections]).toEqual([200, []]);
    expect(body).toMatch(/Payment received/);
  });

  describe('who is refused', () => {
    const refused = (error: unknown): Answer => answered((responder, answer) => responder.refuse(answer, error), URLS);

    it.each<[CallbackRefusal, number]>([
      ['unknown_token', 404],
      ['not_a_callback', 400],
      ['repeated_field', 400],
      ['nested_field', 400],
      ['too_large', 400],
      ['missing_field', 400],
      ['foreign_payment', 400],
    ])('for %s is %i and a page, never a way to anywhere', (refusal, expected) => {
      const { status, body, headers } = refused(new PaymentCallbackError(refusal));
      expect(status).toBe(expected);
      expect(body).toContain('This page cannot be shown');
      expect(headers['Location']).toBeUndefined();
      expect(headers).toMatchObject(PRIVATE);
      expect(log).toEqual([`warn The callback was refused: ${refusal.replaceAll('_', ' ')}.`]);
    });

    it('since the store failed is asked to come again', () => {
      const { status, body } = refused(new PaymentStoreError('reading'));
      expect([status, body]).toEqual([503, expect.stringContaining('reload this page')]);
    });

    it('by a process that shuts down: the page says to try again, and another instance takes it', () => {
      const { status, body, headers } = refused(new PaymentShutdownError());
      expect([status, headers]).toEqual([503, expect.objectContaining(PRIVATE)]);
      expect(body).toBe(refused(new PaymentStoreError('reading')).body);
    });

    it('for anything else is left to the host', () => {
      const error = new Error('a bug');
      expect(() => refused(error)).toThrow(error);
    });
  });

  it('is nothing where a browser only looks ahead', () => {
    const { status, body, headers } = answered((responder, answer) => responder.nothing(answer));
    expect({ status, body, headers }).toEqual({ status: 204, body: '', headers: PRIVATE });
  });

  it.each<[string, PaymentOptions, string]>([
    [
      'publicUrl',
      { publicUrl: 'https://shop.example/tr', callbackUrl: 'https://pay.example/back' },
      'https://shop.example/tr',
    ],
    ['the origin of callbackUrl', { callbackUrl: 'https://pay.example/back' }, 'https://pay.example'],
    ['this site, with the embedded simulator', {}, '/'],
  ])('leads back to the shop: %s', (_what, options, href) => {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    const { body, headers } = sentOn(payment, options);
    expect(body).toContain(`<a href="${href}" target="_top">`);
    expect(headers['Content-Security-Policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'self'$/,
    );
  });

  it('is in the language of the option', () => {
    const payment = toPayment(aPaymentRecord({ state: 'succeeded' }));
    expect(sentOn(payment, { language: 'tr' }).body).toContain('Ödeme alındı');
  });
});

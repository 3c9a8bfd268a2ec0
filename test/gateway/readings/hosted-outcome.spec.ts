import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import {
  type HostedForm,
  type HostedOutcome,
  hostedOutcome,
  type HostedRules,
} from '../../../lib/gateway/readings/hosted-outcome.js';
import type { Answer } from '../../../lib/gateway/transport/transmission.js';
import { replied } from '../stub-client.js';
import { QUESTION } from './question.js';

const { hostedPage, embeddedForm } = morposDialect().operations;
const PAGE = 'https://pay.example/p/1';
const FORM = '<form id="pay"></form><script src="https://pay.example/form.js"></script>';

const RULES: HostedRules = {
  form: 'page',
  isLocal: false,
  own: ['https://shop.example/payments/token/return', 'https://shop.example/payments/token/fail'],
};

function read(form: HostedForm, body: unknown, status = 200, rules: Partial<HostedRules> = {}): HostedOutcome {
  const operation = form === 'page' ? hostedPage! : embeddedForm!;
  return hostedOutcome(replied(body, status) as Answer, operation, QUESTION, { ...RULES, form, ...rules });
}

test('the address of the page is under returnUrl, with or without a code', () => {
  for (const code of [{}, { code: 'B0000' }]) {
    expect(read('page', { ...code, returnUrl: PAGE })).toEqual({
      page: { redirectUrl: PAGE, html: null, endsAt: null },
    });
  }
});

test.each([
  ['as it is', FORM],
  ['as Base64', Buffer.from(FORM).toString('base64')],
])('a form is read %s, with its end', (_name, paymentFormContent) => {
  const body = { code: 'B0000', paymentFormContent, paymentFormExpireTime: '2026-11-22T16:00:00+03:00' };
  const endsAt = new Date('2026-11-22T13:00:00Z');
  expect(read('embedded', body)).toEqual({ page: { redirectUrl: null, html: FORM, endsAt } });
});

test.each(['2026-11-22T16:00:00', '22.11.2026 16:00', 'soon', '2026-13-45T99:00:00Z', 7])(
  'an end without its offset, or that is none (%s), is not believed',
  (paymentFormExpireTime) => {
    expect(read('embedded', { paymentFormContent: FORM, paymentFormExpireTime })).toMatchObject({
      page: { endsAt: null },
    });
  },
);

test.each([
  ...['http://pay.example/p/1', 'http://127.0.0.1:8080/p', 'https://', '/p/1', '//pay.example/p', ''],
  ...['javascript:alert(1)', 'data:text/html,<b>', 'https://pay.example/"onclick=', 'https://pay.example/<script>'],
  ...['https://pay.example@evil.example/p', 'https://:secret@pay.example/p', 'https://pay.example\\@evil.example/'],
  ...['https://pay.example/p\r\nSet-Cookie: a=b', 'https://pay.example/\u200b', ['https://pay.example/p/1']],
  // More than 2 KiB, also in UTF-8; and the shop's own.
  ...[`https://pay.example/${'a'.repeat(2_048)}`, `https://pay.example/${'ş'.repeat(1_020)}`],
  'https://shop.example/payments/token/return?a=b',
])('a page at %j is not opened', (returnUrl) => {
  expect(read('page', { code: 'B0000', returnUrl })).toMatchObject({ page: null, reason: 'unreadable' });
});

test('a gateway on this machine may have its page there, without TLS, and nowhere else', () => {
  for (const host of ['localhost:3000', '127.0.0.1:8080', '[::1]:99']) {
    expect(read('page', { returnUrl: `http://${host}/p` }, 200, { isLocal: true })).toMatchObject({
      page: { redirectUrl: `http://${host}/p` },
    });
  }
  for (const host of ['pay.example', '127.0.0.1.evil.example', 'localhost.evil.example']) {
    expect(read('page', { returnUrl: `http://${host}/p` }, 200, { isLocal: true })).toMatchObject({ page: null });
  }
});

test.each([
  ['no form', {}],
  ['text that is no HTML', { paymentFormContent: 'pay here' }],
  ['a list', { paymentFormContent: [FORM] }],
  ['more than 256 KiB', { paymentFormContent: FORM + ' '.repeat(262_144) }],
])('an embedded form of %s is not shown', (_name, body) => {
  expect(read('embedded', { code: 'B0000', ...body })).toMatchObject({ page: null, reason: 'unreadable' });
});

test.each([
  [{ code: 'B0051', returnUrl: PAGE }, 200, 'declined'],
  [{ code: 'X', returnUrl: PAGE }, 200, 'unrecognised_code'],
  [{ returnUrl: PAGE, conversationId: 'ABC2' }, 200, 'conversation_mismatch'],
  [{ returnUrl: PAGE }, 400, 'refused'],
  [{ returnUrl: PAGE }, 503, 'server_error'],
  ['<html>', 200, 'unreadable'],
])('%j with %d opens no page: %s', (body, status, reason) => {
  expect(read('page', body, status)).toMatchObject({ page: null, reason });
});

test('no answer, and a dialect that throws, open no page', () => {
  const lost = { sent: true, reply: null, cause: 'deadline' } as const;
  expect(hostedOutcome(lost, hostedPage!, QUESTION, RULES)).toMatchObject({ page: null, reason: 'no_answer' });
  const failing = {
    ...hostedPage!,
    read: () => {
      throw new Error('a dialect that fails');
    },
  };
  const outcome = hostedOutcome(replied({}) as Answer, failing, QUESTION, RULES);
  expect(outcome).toMatchObject({ page: null, reason: 'unreadable' });
});

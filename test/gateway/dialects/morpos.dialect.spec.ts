import { createHash } from 'node:crypto';
import { morposDialect, type MorposDialectOptions } from '../../../lib/gateway/dialects/morpos.dialect.js';
import type { GatewayOperation } from '../../../lib/gateway/gateway-dialect.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import type { WireObject } from '../../../lib/gateway/wire-body.js';
import { CREDENTIALS, sampleSale } from '../sample-sale.js';

// What else it sends is shown by test/wire.

const NOW = new Date('2026-03-01T21:05:07.089Z');
const API_KEY = 'api-key-1';
const { doPayment, init3d, checkPayment } = morposDialect().operations;

/** SHA-256, Base64, upper-cased. */
function signOver(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf8')).digest('base64').toUpperCase();
}

function headersOf(clientSecret = CREDENTIALS.clientSecret, options?: MorposDialectOptions): Record<string, string> {
  const credentials = { ...CREDENTIALS, clientSecret };
  return morposDialect(options).headers({ credentials, operation: 'doPayment', now: NOW });
}

test('the secret is sent hashed with the timestamp, also one of bytes that are no text', () => {
  // c2VjcmV0LWJ5dGVz is Base64 of "secret-bytes".
  const sent = 'ODQwMGZmNjY2YjVhOWRhNThjYjllODUyNmU2MTRiZDE5ZTJlYjljOTA1NTQ5NTM0NDdlYzRiODA1ZWY0MTUzZg==';
  expect(headersOf()).toEqual({
    'x-ClientID': 'client-1',
    'x-ClientSecret': sent,
    'x-GrantType': 'client_credentials',
    'x-Scope': 'pf_write',
    'x-Timestamp': '20260301210507',
  });
  const bytes = Buffer.from([0, 255, 128, 10]);
  const hash = createHash('sha256').update(bytes).update('20260301210507').digest('hex');
  const { 'x-ClientSecret': secret = '' } = headersOf(bytes.toString('base64'));
  expect(Buffer.from(secret, 'base64').toString()).toBe(hash);
});

test.each([
  [0, '20260301210507'],
  [3, '20260302000507'],
  [5.5, '20260302023507'],
])('the time %d hours east of UTC', (timestampOffsetHours, timestamp) => {
  expect(headersOf(undefined, { timestampOffsetHours })['x-Timestamp']).toBe(timestamp);
});

const PLAIN =
  'ABC00000000000000001;M-1;https://shop.example/payments/direct/return;https://shop.example/payments/direct/fail;' +
  'CARDPAYMENT;tr;CARD;SALE;False;1;60.00;949;;api-key-1';
const UTF8 = sampleSale({ returnUrl: 'https://shop.example/ödeme' });
const ODD = ['cardDetails', 'merchantId.no', 'no.such.field', 'flag', 'flag.deep', 'amount'];
const BODY = { merchantId: 'M-1', cardDetails: { cvv: '000' }, flag: null, amount: 60, code: 'x' };

test.each<[GatewayOperation, WireObject, string | null, MorposDialectOptions?, (string | null)?]>([
  ['doPayment', doPayment.body(sampleSale(), 'M-1'), PLAIN],
  ['init3d', init3d.body(sampleSale(), 'M-1'), PLAIN],
  ['init3d', init3d.body(UTF8, 'M-1'), PLAIN.replace('payments/direct/return', 'ödeme')],
  // The place of what is no single value, and of a key that is not configured, is empty.
  ['doPayment', BODY, ';;;;;60;api-key-1', { signOrder: { doPayment: ODD } }],
  ['checkPayment', { merchantId: 'M-1', conversationId: 'ABC1' }, 'ABC1;M-1;', {}, null],
  ['auth3d', BODY, null],
])('the sign of %s is made over its values in order (%#)', async (...row) => {
  const [operation, body, text, options, apiKey = API_KEY] = row;
  const sign = await morposDialect(options).sign(body, { operation, apiKey });
  expect(sign).toBe(text === null ? null : signOver(text));
  // Computed elsewhere.
  if (text === PLAIN) expect(sign).toBe('78ZCQHUORL5RTIUDP0XO/B48FRRPIMAI7MO1C6W0WXK=');
});

const ANSWER =
  '{"code":"B0000","conversationId":"ABC1","orderId":"o-1","paymentId":"p-1","bankUniqueReferenceNumber":"503615446559",' +
  '"transactionDate":"05/02/2025 15:09:09","currency":"949","authCode":"004512","paymentInstrumentType":"CARDPAYMENT",' +
  '"instrumentDetail":{"maskedCardNumber":"450803******4509","cardType":"CARD"},"paymentInfo":{"installmentCount":1,' +
  '"payFacCommissionRate":1.5000,"amount":60.00,"payFacCommissionAmount":0.9000},"sign":"SIGN"}';
const GOOD = signOver(
  'ABC1;o-1;p-1;503615446559;05/02/2025 15:09:09;949;004512;CARDPAYMENT;450803******4509;CARD;1;60.00;0.9000;1.5000;api-key-1',
);

test.each<[isGood: boolean, sign: string, answerSignOrder?: string[], answer?: string, apiKey?: string | null]>([
  [true, GOOD],
  [false, GOOD, undefined, ANSWER.replace('60.00', '60.0')],
  [false, GOOD, undefined, ANSWER, null],
  [false, GOOD.toLowerCase()],
  [false, ''],
  [true, signOver('o-1;60.00;api-key-1'), ['orderId', 'paymentInfo.amount']],
  [true, signOver('o-1;;;;949;api-key-1'), ['orderId', 'paymentInfo', 'orderId.x', 'no.such', 'currency']],
])('the sign of an answer is made over its values as they were written: %j (%#)', (...row) => {
  const [isGood, sign, answerSignOrder, answer = ANSWER, apiKey = API_KEY] = row;
  const fields = ReplyFields.parse(answer.replace('SIGN', sign))!;
  expect(morposDialect(answerSignOrder && { answerSignOrder }).verifySign!(fields, { apiKey })).toBe(isGood);
});

test.each([
  [{ code: 'B0000', resultCode: 'B0051' }, { resultCode: 'B0051' }],
  [{ code: 'B0000' }, { resultCode: 'B0000' }],
  [{ code: true, transactionType: ['SALE'] }, { unreadable: ['resultCode', 'transactionType'] }],
  [{ transactionStatus: { status: 'SUCCESS' } }, { isSuccessful: false, unreadable: ['transactionStatus'] }],
])('in the answer to a CheckPayment, %j is read as %j', (shown, read) => {
  const fields = ReplyFields.parse(JSON.stringify({ responseCode: 'B0000', ...shown }))!;
  expect(checkPayment!.read(fields)).toMatchObject({ code: 'B0000', ...read });
});

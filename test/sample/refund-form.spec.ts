import {
  PaymentDuplicateError,
  PaymentNotSentError,
  PaymentRefundError,
  PaymentShutdownError,
  PaymentStateError,
  PaymentStoreError,
  PaymentUnsupportedError,
  PaymentValidationError,
} from 'nestjs-card-payment';
import { aPayment } from 'nestjs-card-payment/testing';
import { problemOf } from '../../sample/src/admin/refund-form.js';

const payment = aPayment();
const refusal = (reason: PaymentRefundError['reason'], refundable = '12.50'): PaymentRefundError =>
  new PaymentRefundError(reason, payment, { refundable });
const wrong = (path: string, rule: string): PaymentValidationError =>
  new PaymentValidationError([{ path, rule, message: 'is wrong' }]);

/** Each error that means that nothing was sent, with a part of what staff read about it. */
const ERRORS: readonly [name: string, error: Error, en: string, tr: string][] = [
  ['exceeds', refusal('exceeds'), '₺12.50 is left', 'iade edilebilecek tutar: ₺12,50'],
  ['exceeds, nothing left', refusal('exceeds', '0.00'), 'nothing is left', 'tutar kalmadı'],
  ['voided', refusal('voided', '0.00'), 'has been voided', 'iptal edilmiş'],
  ['refunded', refusal('refunded'), 'refund the ₺12.50 that is left', 'kalan ₺12,50 tutarı iade edin'],
  ['in_progress', refusal('in_progress'), 'another refund of this payment', 'başka bir iadesinin sonucu'],
  ['no_ids', refusal('no_ids'), 'ids of this payment are not known', 'numaraları bilinmiyor'],
  ['state', new PaymentStateError(payment, 'be refunded'), 'not certain', 'kesin değil'],
  ['duplicate', new PaymentDuplicateError(payment, 'idempotencyKey'), 'already been used', 'kullanılmış'],
  ['not sent', new PaymentNotSentError(payment, 'refused'), 'could not be reached', 'ulaşılamadı'],
  ['unsupported', new PaymentUnsupportedError('refund', 'standard'), 'takes no refunds', 'iade kabul etmiyor'],
  ['the store', new PaymentStoreError('opening'), 'nothing was sent', 'bir şey gönderilmedi'],
  ['shutdown', new PaymentShutdownError(), 'nothing was sent', 'bir şey gönderilmedi'],
  ['the amount', wrong('amount', 'amountFormat'), 'such as 10.50 or 10,50', '10,50 veya 10.50 gibi'],
  ['no amount', wrong('amount', 'isDefined'), 'such as 10.50 or 10,50', '10,50 veya 10.50 gibi'],
  ['the note', wrong('note', 'note'), 'a note of 1 to 10,000', '10.000 karakterlik bir not'],
];

it.each(ERRORS)('%s is explained in both languages', (_name, error, en, tr) => {
  expect(problemOf(error, 'en')?.text.toLowerCase()).toContain(en.toLowerCase());
  expect(problemOf(error, 'tr')?.text.toLocaleLowerCase('tr')).toContain(tr.toLocaleLowerCase('tr'));
});

it('names the field that is wrong, and none for what no field can mend', () => {
  expect(problemOf(wrong('amount', 'amountPositive'), 'en')).toMatchObject({ field: 'amount' });
  expect(problemOf(wrong('note', 'note'), 'en')).toMatchObject({ field: 'note' });
  expect(problemOf(refusal('exceeds'), 'en')).toMatchObject({ field: null });
});

it('leaves all other errors to the shop', () => {
  expect(problemOf(wrong('idempotencyKey', 'text'), 'en')).toBeNull();
  expect(problemOf(new Error('a mistake'), 'en')).toBeNull();
});

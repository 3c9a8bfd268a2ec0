import {
  PaymentCallbackError,
  PaymentConfigurationError,
  PaymentDuplicateError,
  PaymentError,
  PaymentHostedError,
  PaymentInit3dError,
  PaymentNotFoundError,
  PaymentNotSentError,
  PaymentOverloadError,
  PaymentRefundError,
  PaymentShutdownError,
  PaymentStateError,
  PaymentStoreError,
  PaymentUnsupportedError,
  PaymentValidationError,
} from '../../lib/errors/index.js';
import { toPayment } from '../../lib/payment/payment.js';
import { aPayment, aRefund } from '../../lib/testing/a-payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const failed = toPayment(aPaymentRecord({ state: 'failed', reason: 'declined', code: 'B0005' }));

const ERRORS: [error: PaymentError, name: string, code: string, message: string][] = [
  [
    new PaymentCallbackError('missing_field'),
    'PaymentCallbackError',
    'PAYMENT_CALLBACK',
    'The callback was refused: missing field.',
  ],
  [
    new PaymentConfigurationError([
      { option: 'baseUrl', variable: 'PAYMENT_BASE_URL', message: 'is missing' },
      { option: 'signer', variable: null, message: 'must be a function' },
    ]),
    'PaymentConfigurationError',
    'PAYMENT_CONFIGURATION',
    'The payment module cannot start:\n  - baseUrl (PAYMENT_BASE_URL): is missing\n  - signer: must be a function',
  ],
  [
    new PaymentDuplicateError(failed, 'idempotencyKey'),
    'PaymentDuplicateError',
    'PAYMENT_DUPLICATE',
    'This idempotencyKey is already taken by a payment that is failed; nothing was sent.',
  ],
  [
    new PaymentDuplicateError(aPayment(), 'refundId', aRefund({ state: 'unknown' })),
    'PaymentDuplicateError',
    'PAYMENT_DUPLICATE',
    'This refundId is already taken by a refund that is unknown; nothing was sent.',
  ],
  [
    new PaymentHostedError(failed),
    'PaymentHostedError',
    'PAYMENT_HOSTED',
    "The gateway's own page could not be opened.",
  ],
  [
    new PaymentHostedError(aPayment({ state: 'pending' }), 'page_open'),
    'PaymentHostedError',
    'PAYMENT_HOSTED',
    "The gateway's own page could not be opened: one of the same sale is open already.",
  ],
  [
    new PaymentInit3dError(failed),
    'PaymentInit3dError',
    'PAYMENT_INIT3D',
    'The 3D payment could not be started: it was declined.',
  ],
  [new PaymentNotFoundError(), 'PaymentNotFoundError', 'PAYMENT_NOT_FOUND', 'There is no such payment.'],
  [
    new PaymentNotSentError(failed, 'connection refused'),
    'PaymentNotSentError',
    'PAYMENT_NOT_SENT',
    'The payment was not sent: connection refused. Nothing was charged; it is safe to try again.',
  ],
  [new PaymentNotFoundError('refund'), 'PaymentNotFoundError', 'PAYMENT_NOT_FOUND', 'There is no such refund.'],
  [
    new PaymentNotSentError(aPayment(), 'connection refused', aRefund({ state: 'failed', kind: 'void' })),
    'PaymentNotSentError',
    'PAYMENT_NOT_SENT',
    'The void was not sent: connection refused. Nothing was given back; it is safe to try again.',
  ],
  [
    new PaymentRefundError('in_progress', aPayment(), { refundable: '49.90' }),
    'PaymentRefundError',
    'PAYMENT_REFUND',
    'The payment cannot be refunded: another refund of the payment has no outcome yet. 49.90 is left to give back; ' +
      'nothing was sent.',
  ],
  [
    new PaymentOverloadError(10),
    'PaymentOverloadError',
    'PAYMENT_OVERLOAD',
    'The payment was refused because 10 are running already (maxInFlight). Nothing was recorded or sent; it is safe to try again.',
  ],
  [
    new PaymentShutdownError(),
    'PaymentShutdownError',
    'PAYMENT_SHUTDOWN',
    'The call was refused because this process is shutting down. Nothing was recorded or sent; it is safe to try ' +
      'again, at another instance or once this one is back.',
  ],
  [
    new PaymentStateError(failed, 'be resolved'),
    'PaymentStateError',
    'PAYMENT_STATE',
    'A 3d payment that is failed cannot be resolved.',
  ],
  [
    new PaymentStateError(aPayment(), 'be resolved as failed', aRefund()),
    'PaymentStateError',
    'PAYMENT_STATE',
    'A refund that is succeeded cannot be resolved as failed.',
  ],
  [
    new PaymentStoreError('reading'),
    'PaymentStoreError',
    'PAYMENT_STORE',
    'The payment store failed while reading. No money was moved by this call.',
  ],
  [
    new PaymentUnsupportedError('inquiry', 'standard'),
    'PaymentUnsupportedError',
    'PAYMENT_UNSUPPORTED',
    'The dialect "standard" has no inquiry.',
  ],
  [
    new PaymentValidationError([
      { path: 'reference', rule: 'text', message: 'reference must be text' },
      { path: 'input', rule: 'isObject', message: 'must be an object' },
    ]),
    'PaymentValidationError',
    'PAYMENT_VALIDATION',
    'The payment was refused before sending: reference: reference must be text; input: must be an object',
  ],
];

it.each(ERRORS)('%p is a %s of the code %s', (error, name, code, message) => {
  expect(error).toBeInstanceOf(PaymentError);
  expect(error).toMatchObject({ name, code, message });
  expect(error.cause).toBeUndefined();
});

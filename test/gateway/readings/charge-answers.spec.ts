import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import type { ChargeAttempt } from '../../../lib/gateway/gateway-client.js';
import type { GatewaySettings } from '../../../lib/gateway/gateway-dialect.js';
import type { Transmission } from '../../../lib/gateway/transport/attempt.js';
import { toPayment } from '../../../lib/payment/payment.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';
import { OPEN_CLAIM, sampleSale } from '../sample-sale.js';
import { replied, standard, stubClient } from '../stub-client.js';

const ID = 'ABC00000000000000001';
const PAYMENT = toPayment(aPaymentRecord({ state: 'authorizing', amount: '60.00' }));
const REFUND = { conversationId: ID, language: 'tr', orderId: 'o', paymentId: 'p', amount: '40.00', currencyCode: 949 };
/** The dialect `standard` has no inquiry and no refunds. */
const ASKED = ['DoPayment', 'Auth3d', 'refund', 'void', 'standard DoPayment', 'standard Auth3d'] as const;
type Asked = (typeof ASKED)[number];
/** `mustName`: whether an approval by Auth3d has to name the payment. */
type Over = Partial<GatewaySettings> & { readonly mustName?: boolean };

async function verdict(asked: Asked, answer: Transmission, { mustName = true, ...over }: Over = {}): Promise<string> {
  const dialect = asked.startsWith('standard') ? standard({ verifySign: () => false }) : morposDialect();
  const attempt = await charge(asked, stubClient(answer, dialect, over).client, mustName);
  if (!attempt.sent) throw new Error('not sent');
  const { state, reason } = attempt.outcome;
  return reason ? `${state} ${reason}` : state;
}

function charge(
  asked: Asked,
  client: ReturnType<typeof stubClient>['client'],
  mustName: boolean,
): Promise<ChargeAttempt> {
  if (asked === 'refund' || asked === 'void') {
    const expected = { ...REFUND, installmentCount: 1, otherAmounts: ['60.00'] };
    return client.charge(asked, REFUND, { expected, isMoneyBack: true }, OPEN_CLAIM);
  }
  if (asked.endsWith('DoPayment')) {
    return client.charge('doPayment', sampleSale(), { expected: sampleSale() }, OPEN_CLAIM);
  }
  const request = { payment: PAYMENT, fields: {}, gathered: {} };
  return client.charge('auth3d', request, { expected: PAYMENT, mustName }, OPEN_CLAIM);
}

const UNBOUND = { Auth3d: 'unknown unbound', 'standard Auth3d': 'review unbound' };
/** Where it cannot be asked later, a person has to. */
const FOREIGN = {
  'standard DoPayment': 'review conversation_mismatch',
  'standard Auth3d': 'review conversation_mismatch',
};
const NAMED = { code: 'B0000', conversationId: ID, amount: 60 };
const SIGNED = { verifySign: true };

type Row = [status: number, body: unknown, verdict: string, others?: Partial<Record<Asked, string>>, settings?: Over];

const ROWS: Row[] = [
  [200, NAMED, 'succeeded'],
  [201, { ...NAMED, message: 'Declined', resultCode: 'B0000', resultDescription: 'Reddedildi' }, 'succeeded'],
  [200, { ...NAMED, amount: 40 }, 'review amount_mismatch', { refund: 'succeeded', void: 'succeeded' }],
  [200, { ...NAMED, amount: 59.99 }, 'review amount_mismatch'],
  [200, { ...NAMED, currency: '840' }, 'review currency_mismatch'],
  [200, { ...NAMED, currency: '840', amount: 1 }, 'review currency_mismatch'],
  [200, { code: 'B0000' }, 'succeeded', UNBOUND],
  [200, { code: 'B0000', conversationId: '', paymentInfo: null }, 'succeeded', UNBOUND],
  [200, { code: 'B0000', conversationId: ID }, 'succeeded', UNBOUND],
  [200, { code: 'B0000', amount: 60, currency: '949' }, 'succeeded', UNBOUND],
  [200, { code: 'B0000' }, 'succeeded', {}, { mustName: false }],
  [200, { code: 'B0000', conversationId: ID }, 'succeeded', {}, { verifyAmount: 'off' }],
  [200, { code: '00' }, 'unknown unrecognised_code', { refund: 'succeeded', void: 'succeeded' }],
  [200, { code: '00', resultCode: 'B0000' }, 'review codes_disagree', { refund: 'succeeded', void: 'succeeded' }],
  [200, { code: 'B0000', amount: 1 }, 'review amount_mismatch'],
  [200, { code: 'B0010' }, 'review approval_variant'],
  [200, { ...NAMED, resultCode: 'B0051' }, 'review codes_disagree'],
  [200, { ...NAMED, resultCode: 'B0096' }, 'review codes_disagree'],
  [200, { ...NAMED, conversationId: 'ANOTHER' }, 'review conversation_mismatch'],
  [200, { code: 'B0000', conversationId: 'ANOTHER', resultCode: 'B0051' }, 'review conversation_mismatch'],
  [200, { code: 'B0000', conversationId: 'ANOTHER', amount: 1, currency: 840 }, 'review conversation_mismatch'],
  [200, { code: 'B0010', conversationId: 'ANOTHER' }, 'review conversation_mismatch'],
  [200, { ...NAMED, code: 'B0051' }, 'failed declined'],
  [200, { code: 'B0012', amount: 1, currency: 840 }, 'failed declined'],
  [200, { code: 'RVV0000999999' }, 'failed declined'],
  ...[200, 400, 401, 422].map((status): Row => {
    return [status, { code: 'B0051', conversationId: 'ANOTHER' }, 'unknown conversation_mismatch', FOREIGN];
  }),
  [200, { code: 'X', conversationId: 'ANOTHER' }, 'unknown conversation_mismatch', FOREIGN],
  [503, { code: 'B0000', conversationId: 'ANOTHER' }, 'unknown conversation_mismatch', FOREIGN],
  ...['B0096', 'B0009', 'B0018', 'B0026', 'B0080'].map((code): Row => [200, { code }, 'unknown indeterminate_code']),
  [200, { code: 'B0051', resultCode: 'B0096' }, 'unknown indeterminate_code'],
  [200, { code: 'GW-TIMEOUT' }, 'unknown unrecognised_code'],
  [200, { code: 'B0051', resultCode: 'X' }, 'unknown unrecognised_code'],
  [200, { code: ['B0000'] }, 'unknown unreadable'],
  [200, { code: 'B0051', resultCode: ['B0000'] }, 'unknown unreadable'],
  [200, { resultCode: 'B0000' }, 'unknown unreadable'],
  [200, { message: 'Approved' }, 'unknown unreadable'],
  [200, '<html>', 'unknown unreadable'],
  // Refusals and errors by their status are in test/faults/reply-rows.ts.
  // A status that is no success makes nothing of an approval.
  ...[NAMED, { ...NAMED, amount: 1 }, { ...NAMED, currency: '840' }].flatMap((body): Row[] => [
    [503, body, 'unknown indeterminate_code'],
    [400, body, 'unknown indeterminate_code', {}, SIGNED],
  ]),
  // The sign counts in an approval alone, and the vendor's sample of a refund's answer has none.
  [200, NAMED, 'review sign_mismatch', { refund: 'succeeded', void: 'succeeded' }, SIGNED],
  [200, { ...NAMED, amount: 1 }, 'review amount_mismatch', {}, SIGNED],
  [200, { code: 'B0051' }, 'failed declined', {}, SIGNED],
];

test.each(ROWS)('%d %j: %s', async (...row) => {
  const [status, body, expected, others = {}, settings] = row;
  for (const asked of ASKED) {
    const found = await verdict(asked, replied(body, status), settings);
    expect([asked, found]).toEqual([asked, others[asked] ?? expected]);
  }
});

test.each([
  ['deadline', 'unknown no_answer'],
  ['connection_lost', 'unknown no_answer'],
  ['reply_too_large', 'unknown unreadable'],
  ['reply_unreadable', 'unknown unreadable'],
] as const)('an answer that was lost, %s: %s', async (cause, expected) => {
  for (const asked of ASKED) expect(await verdict(asked, { sent: true, reply: null, cause })).toBe(expected);
});

import { inspect } from 'node:util';
import fc from 'fast-check';
import { morposDialect, type MorposDialectOptions } from '../../../lib/gateway/dialects/morpos.dialect.js';
import type { ChargeAttempt, GatewayClient } from '../../../lib/gateway/gateway-client.js';
import type { BinRequest, GatewaySettings } from '../../../lib/gateway/gateway-dialect.js';
import type { HostedForm } from '../../../lib/gateway/readings/pages.js';
import type { LostReply, Transmission } from '../../../lib/gateway/transport/attempt.js';
import { toPayment } from '../../../lib/payment/payment.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';
import { expectCases } from '../../rigs/case-texts.js';
import { OPEN_CLAIM, sampleSale } from '../sample-sale.js';
import { replied, standard, stubClient } from '../stub-client.js';

const SALE = sampleSale();
const PAYMENT = toPayment(aPaymentRecord({ state: 'authorizing', amount: '60.00' }));
const REFUND = {
  conversationId: SALE.conversationId,
  language: 'tr',
  orderId: 'o',
  paymentId: 'p',
  amount: '40.00',
  currencyCode: 949,
};

const APPROVED = { responseCode: 'B0000', responseDescription: 'Approved' };
const OURS = { conversationId: SALE.conversationId, paymentInfo: { amount: 60, currency: 949 } };
const PAID = { ...APPROVED, transactionStatus: 'SUCCESS', ...OURS };
const PAGE = Buffer.from('<html>page</html>').toString('base64');

const ANSWERS: Readonly<Record<string, object>> = {
  NAMED: { code: 'B0000', conversationId: SALE.conversationId, amount: 60 },
  PAID,
  RETURNED: { ...PAID, transactionType: 'REFUND' },
  SHOWN: { htmlForm: PAGE, returnUrl: 'https://pay.example/p/1', paymentFormContent: '<form id="pay"></form>' },
  CARD: { ...APPROVED, bankName: 'Örnek Bankası', cardType: 'CREDIT', cardBrand: 'VISA', isCommercial: false },
  APPROVED,
};

/**
 * A case is an answer: its status, if it is not 200, and its body, which may be that of a name, with other fields; or
 * why there is none.
 */
function answerOf(input: string): Transmission {
  const [, status = '200', name = '', text = ''] = /^(?:(\d{3}) ?)?(?:([A-Z]+) ?)?(.*)$/.exec(input) ?? [];
  if (/^[a-z]+_?[a-z_]+$/.test(text) && text !== 'null') return { sent: true, reply: null, cause: text as LostReply };
  const body = name === '' ? text : { ...ANSWERS[name], ...(JSON.parse(text || '{}') as object) };
  return replied(body, Number(status));
}

/** What the first of those who ask is told, and the others where that differs. */
async function toldBy<Asked extends string>(
  [first, ...others]: readonly [Asked, ...Asked[]],
  tell: (asked: Asked) => Promise<string>,
): Promise<string> {
  const told = await tell(first);
  const different = new Map<string, Asked[]>();
  for (const other of others) {
    const outcome = await tell(other);
    if (outcome !== told) different.set(outcome, [...(different.get(outcome) ?? []), other]);
  }
  return [told, ...Array.from(different, ([outcome, asked]) => `${asked.join(', ')}: ${outcome}`)].join('; ');
}

/** The dialect `standard` has no inquiry and no refunds. */
const CHARGES = ['DoPayment', 'Auth3d', 'refund', 'void', 'standard DoPayment', 'standard Auth3d'] as const;

/** `mustName`: whether an approval by Auth3d has to name the payment. */
const verdicts =
  ({ mustName = true, ...over }: Partial<GatewaySettings> & { readonly mustName?: boolean } = {}) =>
  (input: string): Promise<string> =>
    toldBy(CHARGES, async (asked) => {
      const dialect = asked.startsWith('standard') ? standard({ verifySign: () => false }) : morposDialect();
      const attempt = await charge(asked, stubClient(answerOf(input), dialect, over).client, mustName);
      if (!attempt.sent) throw new Error('not sent');
      const { state, reason, isPlain } = attempt.outcome;
      return [state, reason, isPlain && '(plain)'].filter(Boolean).join(' ');
    });

function charge(asked: (typeof CHARGES)[number], client: GatewayClient, mustName: boolean): Promise<ChargeAttempt> {
  if (asked === 'refund' || asked === 'void') {
    const expected = { ...REFUND, installmentCount: 1, otherAmounts: ['60.00'] };
    return client.charge(asked, REFUND, { expected, isMoneyBack: true }, OPEN_CLAIM);
  }
  if (asked.endsWith('DoPayment')) return client.charge('doPayment', SALE, { expected: SALE }, OPEN_CLAIM);
  const request = { payment: PAYMENT, fields: {}, gathered: {} };
  return client.charge('auth3d', request, { expected: PAYMENT, mustName }, OPEN_CLAIM);
}

const NOT_FOUND: MorposDialectOptions = { codes: { notFoundCodes: new Set(['B7777']) } };
type About = 'sale' | 'page' | 'refund';

/** What an inquiry about it says. */
async function word(about: About, answer: Transmission, options = NOT_FOUND): Promise<string> {
  const kind = about === 'page' ? 'hosted' : 'direct';
  const payment = toPayment(aPaymentRecord({ state: 'unknown', kind, amount: '60.00' }));
  const { client } = stubClient(answer, morposDialect(options));
  const said = await (about === 'refund' ? client.checkRefund(payment, ['149.90']) : client.checkPayment(payment));
  if (said?.outcome === 'mismatch') return said.charge.reason!;
  return said?.outcome === 'paid' && !said.isBound ? 'paid, unbound' : String(said?.outcome);
}

const words = (options?: MorposDialectOptions) => (input: string) =>
  toldBy<About>(['sale', 'page', 'refund'], (about) => word(about, answerOf(input), options));

/** What an inquiry's answer settles a sale as, and what is kept of the answer. */
const settled = async (input: string): Promise<string> => {
  const said = await stubClient(answerOf(input), morposDialect()).client.checkPayment(PAYMENT);
  if (!said || !('charge' in said)) return 'nothing';
  const { state, reason, isPlain, result } = said.charge;
  return [state, reason, isPlain && '(plain)', result?.orderId].filter(Boolean).join(' ');
};

/** Why nothing is shown to the buyer, and what is kept of the answer then. */
const openings = (input: string) =>
  toldBy<'Init3d' | HostedForm>(['Init3d', 'page', 'embedded'], async (asked) => {
    const { client } = stubClient(answerOf(input), morposDialect());
    const said = await (asked === 'Init3d' ? client.init3d(SALE) : client.startHosted(asked, SALE));
    if (!said.sent || said.page !== null) return 'shown';
    const { code, message, orderId } = said.result ?? {};
    return [said.reason, code, message, orderId].filter(Boolean).join(' ');
  });

/** What a shop is told of a card, and whether it is an answer. */
const card =
  (asked: Partial<BinRequest> = {}) =>
  async (input: string): Promise<string> => {
    const question = { conversationId: SALE.conversationId, language: 'tr', bin: '45080345', ...asked };
    const { client } = stubClient(answerOf(input), morposDialect());
    const answer = await client.checkBin({ amount: null, currencyCode: null, ...question }, 2_000, 'fixed');
    if (!answer?.sent) throw new Error('not sent');
    const { code, message, installments, ...told } = answer.outcome;
    const rows = installments?.map(({ count, total }) => `${count} for ${total}`);
    const known = Object.entries(told).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
    const instalments = rows ? [`instalments: ${rows.join(', ') || 'none'}`] : [];
    const said = [...known, ...instalments].join(', ') || 'nothing';
    return `${said}; ${code}, ${message}${answer.isAnswered ? '' : ' (no answer)'}`;
  };

test('what answers mean', () =>
  expectCases(import.meta.url, 'answers.txt', {
    'The answers that have names': (name) => inspect(ANSWERS[name], { breakLength: 110 }),
    'A charge of 60.00 lira, or a refund of 40.00': verdicts(),
    'Where an approval by Auth3d need not name the payment': verdicts({ mustName: false }),
    'Where amounts are not compared': verdicts({ verifyAmount: 'off' }),
    'Where signs are verified, and bad': verdicts({ verifySign: true }),
    'An inquiry about a sale, a page or a refund of 60.00 lira': words(),
    'Where Tamam is the word for success': words({ successStatuses: ['Tamam'] }),
    'What the answer to an inquiry about a sale settles it as': settled,
    'What may be shown to the buyer': openings,
    'A question about the card 45080345': card(),
    'A question about the card 450803': card({ bin: '450803' }),
    'A question about 45080345 and 100.00 lira': card({ amount: '100.00', currencyCode: 949 }),
  }));

test('whatever the answer is, nothing is paid or declined but by its code, with 2xx', async () => {
  const code = fc.oneof(fc.constantFrom('B0000', 'B0051'), fc.jsonValue());
  const type = fc.oneof(fc.constant('SALE'), fc.jsonValue());
  const text = fc.oneof(fc.constant('Approved'), fc.jsonValue());
  const fields = { responseCode: code, responseDescription: text, code: fc.jsonValue(), transactionType: type };
  const body = fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.record(fields, { requiredKeys: [] }));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(200, 404, 500), body, async (status, shown) => {
      const said = await word('sale', replied(shown, status));
      if (said === 'paid, unbound') expect([status, shown]).toMatchObject([200, { responseCode: 'B0000' }]);
      if (said === 'declined') expect([status, shown]).toMatchObject([200, { responseCode: 'B0051' }]);
    }),
    { numRuns: 300 },
  );
});

import fc from 'fast-check';
import { morposDialect, type MorposDialectOptions } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { toPayment } from '../../../lib/payment/payment.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';
import { replied, stubClient } from '../stub-client.js';

const ID = 'ABC00000000000000001';
const OPTIONS = { codes: { notFoundCodes: new Set(['B7777']) } };
const ABOUT = ['sale', 'page', 'refund'] as const;
type About = (typeof ABOUT)[number];

async function word(about: About, status: number, body: unknown, options: MorposDialectOptions = OPTIONS) {
  const kind = about === 'page' ? 'hosted' : 'direct';
  const payment = toPayment(aPaymentRecord({ state: 'unknown', kind, amount: '60.00' }));
  const { client } = stubClient(replied(body, status), morposDialect(options));
  const said = await (about === 'refund' ? client.checkRefund(payment, ['149.90']) : client.checkPayment(payment));
  if (said?.outcome === 'mismatch') return said.charge.reason;
  return said?.outcome === 'paid' && !said.isBound ? 'paid, unbound' : said?.outcome;
}

const PAID = {
  responseCode: 'B0000',
  responseDescription: 'Approved',
  transactionStatus: 'SUCCESS',
  conversationId: ID,
  paymentInfo: { amount: 60, currency: 949 },
};
const GIVEN_BACK = { ...PAID, transactionType: 'REFUND' };
const BARE = { responseCode: 'B0000' };

/** What the answer says of a sale; of a page and a refund, where that differs. A refund needs its type. */
type Row = [status: number, body: unknown, sale: string, others?: { page?: string; refund?: string }];

const ROWS: Row[] = [
  [200, PAID, 'paid', { refund: 'unclear' }],
  [200, { ...PAID, transactionType: 'SALE' }, 'paid', { refund: 'unclear' }],
  [200, GIVEN_BACK, 'unclear', { refund: 'paid' }],
  [200, { ...GIVEN_BACK, transactionType: 'VOID' }, 'unclear', { refund: 'paid' }],
  [200, { ...PAID, transactionType: 'PREAUTH' }, 'unclear'],
  [200, { ...BARE, responseDescription: 'Approved' }, 'paid, unbound', { refund: 'unclear' }],
  [200, { ...BARE, message: 'Onaylandı' }, 'paid, unbound', { refund: 'unclear' }],
  [200, { ...BARE, transactionStatus: 'SUCCESS' }, 'paid, unbound', { refund: 'unclear' }],
  [200, { ...BARE, transactionType: 'REFUND', transactionStatus: 'SUCCESS' }, 'unclear', { refund: 'paid, unbound' }],
  [200, { ...BARE, responseDescription: 'Approved', amount: 60 }, 'paid', { refund: 'unclear' }],
  [200, { responseCode: '00', transactionType: 'REFUND', message: 'Approved' }, 'unclear', { refund: 'paid, unbound' }],

  // An echo says nothing.
  ...[
    BARE,
    { ...BARE, conversationId: ID },
    { ...BARE, amount: 60 },
    { ...BARE, conversationId: ID, paymentInfo: { amount: 60, currency: 949 } },
    { ...PAID, transactionStatus: undefined, responseDescription: 'Awaiting 3D verification' },
    { ...PAID, responseDescription: 'Awaiting 3D verification' },
    { ...PAID, responseDescription: 'Success', transactionStatus: undefined },
    { ...PAID, transactionStatus: 'CAPTURED' },
    { ...BARE, transactionType: 'SALE', orderId: 'o-1', amount: 1 },
  ].map((body): Row => [200, body, 'approval', { refund: 'unclear' }]),
  [200, { ...GIVEN_BACK, transactionStatus: undefined, responseDescription: 'OK' }, 'unclear', { refund: 'approval' }],

  [200, { ...PAID, conversationId: 'ANOTHER' }, 'unclear'],
  [200, { ...PAID, paymentInfo: { amount: 59.99 } }, 'amount_mismatch', { refund: 'unclear' }],
  [200, { ...PAID, paymentInfo: { amount: 1, currency: 840 } }, 'currency_mismatch', { refund: 'unclear' }],
  [200, { ...GIVEN_BACK, paymentInfo: { amount: 149.9 } }, 'unclear', { refund: 'paid' }],
  [200, { ...GIVEN_BACK, paymentInfo: { amount: 1 } }, 'unclear', { refund: 'amount_mismatch' }],
  [200, { ...BARE, amount: 1 }, 'approval', { refund: 'unclear' }],
  [
    200,
    { ...PAID, amount: 63, paymentInfo: { amount: 63, installmentCount: 3 } },
    'amount_mismatch',
    { page: 'paid', refund: 'unclear' },
  ],
  [200, { responseCode: 'B0010' }, 'approval_variant', { refund: 'unclear' }],
  [200, { responseCode: 'B0010', transactionStatus: 'PENDING' }, 'approval_variant', { refund: 'unclear' }],
  [200, { ...PAID, code: 'B0051' }, 'unclear', { page: 'approval' }],
  [200, { ...PAID, code: 'B0096' }, 'unclear'],
  [200, { ...PAID, code: true }, 'unclear'],

  [200, { responseCode: 'B0051' }, 'declined', { refund: 'unclear' }],
  [200, { ...PAID, responseCode: 'B0051', transactionStatus: 'FAILED' }, 'declined', { refund: 'unclear' }],
  [200, { responseCode: 'B0051', responseDescription: 'Approved' }, 'unclear'],
  [200, { responseCode: 'B0025', responseDescription: 'Onaylandı' }, 'unclear'],
  [404, { responseCode: 'B0025', responseDescription: 'Approved' }, 'unclear'],
  ...['B0051', 'B0025', 'B7777'].flatMap((responseCode): Row[] =>
    [' success ', 'CAPTURED', 'BAŞARILI', ['FAILED']].map((transactionStatus) => [
      200,
      { responseCode, transactionStatus },
      'unclear',
    ]),
  ),
  [200, { ...GIVEN_BACK, responseCode: 'B0051' }, 'unclear'],
  [200, { responseCode: 'B0051', conversationId: 'ANOTHER' }, 'unclear'],
  [200, { responseCode: 'B0051', transactionType: 'VOID' }, 'unclear'],
  [200, { responseCode: 'B7777' }, 'not_found', { refund: 'unclear' }],
  ...['B0010', 'B0051', 'B7777', 'E5000'].map((responseCode): Row => {
    return [200, { ...GIVEN_BACK, responseCode, transactionStatus: 'FAILED' }, 'unclear'];
  }),
  [200, { ...GIVEN_BACK, code: 'B0051', transactionStatus: 'FAILED' }, 'unclear'],
  [200, { responseCode: 'B0025' }, 'unpaid', { refund: 'unclear' }],
  ...['B0051', 'B7777', 'B0025'].map((responseCode): Row => [200, { ...PAID, responseCode }, 'unclear']),
  ...['E5000', 'B0003', 'B0100', 'RVV0000000012'].map((code): Row => [200, { responseCode: code }, 'unclear']),
  [200, { responseCode: 'B0096', transactionStatus: 'FAILED' }, 'unclear'],
  ...['B0000', 'E5000', 'B0003', 'B0025'].map((code): Row => {
    return [200, { responseCode: code, transactionStatus: 'PENDING' }, 'unpaid', { refund: 'unclear' }];
  }),
  [200, { ...GIVEN_BACK, transactionStatus: 'PENDING' }, 'unclear', { refund: 'unpaid' }],
  ...['', 'null', '[]', '{}', '"B0000"', '<html>', '{"code":"B0000"}', '{"transactionStatus":"FAILED"}'].map(
    (body): Row => [200, body, 'unclear'],
  ),

  // By a 4xx nobody has paid, but a refund may have been made.
  ...[404, 403, 429].flatMap((status): Row[] => [
    [status, { responseCode: 'B0025' }, 'unpaid', { refund: 'unclear' }],
    [status, { responseCode: 'B7777' }, 'unpaid', { refund: 'unclear' }],
    [status, { responseCode: 'B0025', transactionStatus: 'SUCCESS' }, 'unclear'],
    [status, PAID, 'unclear'],
    [status, { responseCode: 'B0051' }, 'unclear'],
    [status, '<html>', 'unanswered'],
    [status, { responseCode: 'B0025', code: true }, 'unanswered'],
  ]),
  ...[408, 409, 500, 302].flatMap((status): Row[] => {
    return [PAID, GIVEN_BACK, { responseCode: 'B0051' }, ''].map((body) => [status, body, 'unanswered']);
  }),
];

test.each(ROWS)('%d %j: %s', async (...row) => {
  const [status, body, sale, { page = sale, refund = sale } = {}] = row;
  expect(await Promise.all(ABOUT.map((about) => word(about, status, body)))).toEqual([sale, page, refund]);
});

test('a host may know other words for success and other texts that approve', async () => {
  const statuses = { successStatuses: ['Tamam'] };
  expect(await word('sale', 200, { ...PAID, transactionStatus: 'TAMAM' }, statuses)).toBe('paid');
  expect(await word('sale', 200, PAID, statuses)).toBe('approval');
});

test('whatever the answer is, nothing is paid or declined but by its code, with 2xx', async () => {
  const code = fc.oneof(fc.constantFrom('B0000', 'B0051'), fc.jsonValue());
  const type = fc.oneof(fc.constant('SALE'), fc.jsonValue());
  const text = fc.oneof(fc.constant('Approved'), fc.jsonValue());
  const fields = { responseCode: code, responseDescription: text, code: fc.jsonValue(), transactionType: type };
  const body = fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.record(fields, { requiredKeys: [] }));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(200, 404, 500), body, async (status, shown) => {
      const said = await word('sale', status, shown);
      if (said === 'paid, unbound') expect([status, shown]).toMatchObject([200, { responseCode: 'B0000' }]);
      if (said === 'declined') expect([status, shown]).toMatchObject([200, { responseCode: 'B0051' }]);
    }),
    { numRuns: 1_000 },
  );
});

import type { Payment, PaymentState, Refund } from 'nestjs-card-payment';
import { aPayment, aRefund } from 'nestjs-card-payment/testing';
import { SALE_STATES } from '../../lib/payment/states.js';
import type { Order } from '../../sample/src/orders/order.js';
import { isAtPage, isPayable, type Outcome, outcomeOf, outcomeWithRefunds } from '../../sample/src/orders/outcome.js';
import { orderPage, type OrderPageDetails } from '../../sample/src/pages/order-page.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { linesOf } from '../rigs/page-text.js';

const TEXTS = new ExpectedTexts(import.meta.url);

const ORDER: Order = {
  id: 'T-7KQ2-M9XD-4RBW',
  lines: [{ productId: 'mug', name: { tr: 'Kupa', en: 'Mug <b>' }, quantity: 1, kurus: 14_990 }],
  totalKurus: 14_990,
  status: 'open',
  placedAt: new Date('2026-03-01T09:00:00Z'),
  invoiceNumber: null,
  refundedKurus: 0,
};
const FACTS = {
  code: 'B0000',
  authCode: 'A-1',
  bankUniqueReferenceNumber: 'B-2',
  paymentId: 'P-3',
  maskedCardNumber: '450803******4509',
  transactionAt: new Date('2026-03-01T22:30:00Z'),
  installmentCount: 3,
};
const STOLEN = { reason: 'declined', code: 'B0043', message: 'Stolen card' } as const;
const RETURNED = { transactionAt: new Date('2026-03-03T09:00:00Z') };

/** What buyers see of an order, by the payments that it has. */
const PAGES: Readonly<Record<string, readonly Partial<Payment>[]>> = {
  'no payment': [],
  ...Object.fromEntries(SALE_STATES.map((state) => [state, [{ state }]])),
  'succeeded, with all that a buyer may need': [FACTS],
  'succeeded, with hostile texts': [
    { authCode: '<script>', paymentId: '"x"', bankUniqueReferenceNumber: "'", chargedAmount: '<b>' },
  ],
  'succeeded at the payment page': [{ kind: 'hosted', installmentCount: 3 }],
  'succeeded, charged 149.90': [{ chargedAmount: '149.90' }],
  'succeeded, charged 164.89': [{ chargedAmount: '164.89' }],
  'unknown, without a date of the bank': [{ state: 'unknown', updatedAt: new Date('2026-03-02T09:00:00Z') }],
  'failed, a stolen card': [{ state: 'failed', ...STOLEN }],
  'unknown, with a code of a stolen card': [{ state: 'unknown', ...STOLEN }],
  'review, with a code of a stolen card': [{ state: 'review', ...STOLEN }],
  'expired, with a code of a stolen card': [{ state: 'expired', ...STOLEN }],
  'the payment page is being opened': [{ state: 'initiating', kind: 'hosted' }, { state: 'failed' }],
  'declined at the payment page, a stolen card': [{ state: 'pending', kind: 'hosted', ...STOLEN }, { state: 'failed' }],
  'the payment page was given up': [{ state: 'expired', kind: 'hosted', reason: 'abandoned' }],
  'failed, then the payment page was given up': [
    { state: 'failed' },
    { state: 'expired', kind: 'hosted', reason: 'abandoned' },
  ],
  'given up, and paid after all': [{ state: 'review', kind: 'hosted', reason: 'moved_after_all' }],
};

it('the page of an order is what pages.txt says', () => {
  const plain = linesOf(page([]));
  const texts = Object.entries(PAGES).map(([name, payments]) => described(name, payments, {}, plain));
  texts.push(
    described('pending, and it could not be given up', [{ state: 'pending' }], { isPageKept: true }, plain),
    described('succeeded, and a page that was given up before', [{}], { isPageKept: true }, plain),
    ...refundPages().map(([name, refunds]) => described(name, [{}], { refunds }, plain)),
    `in Turkish\n  ${linesOf(page([FACTS], { refunds: [aRefund(RETURNED)] }, 'tr')).join('\n  ')}`,
    `no payment, in full\n  ${plain.join('\n  ')}`,
  );
  TEXTS.expect('pages.txt', `${texts.join('\n\n')}\n`);
});

/** Which of several payments decides: never one that lets a buyer pay again while money may have moved. */
it.each<[PaymentState, Outcome['kind']]>([
  ['succeeded', 'paid'],
  ['charging', 'pending'],
  ['authorizing', 'pending'],
  ['unknown', 'pending'],
  ['review', 'checking'],
  ['pending', 'atPage'],
])('a payment that is %s decides, wherever it stands', (state, kind) => {
  for (const other of ['failed', 'expired', 'awaiting'] as const) {
    const payment = paymentOf({ state });
    const payments = [paymentOf({ state: other }, 2), payment, paymentOf({ state: other }, 3)];
    expect(outcomeOf(payments)).toEqual({ kind, payment });
  }
});

it.each<[PaymentState, PaymentState, Outcome['kind']]>([
  ['review', 'succeeded', 'paid'],
  ['unknown', 'succeeded', 'paid'],
  ['failed', 'awaiting', 'atBank'],
  ['awaiting', 'failed', 'failed'],
  ['failed', 'expired', 'expired'],
])('of payments that are %s and then %s, the order is %s', (first, second, kind) => {
  const payments = [first, second].map((state, index) => paymentOf({ state }, index + 1));
  expect(outcomeOf(payments)).toMatchObject({ kind });
});

it.each([
  ['nothing was given back', {}, 'paid'],
  ['a part was given back', { refunded: '1.00' }, 'paid'],
  ['all of it was given back', { refunded: '149.90', refundable: '0.00' }, 'refunded'],
  ['the rest is on its way back', { refunded: '1.00', open: '148.90', refundable: '0.00' }, 'paid'],
])('when %s, a paid order is as it says', (_what, totals, kind) => {
  const payment = paymentOf({});
  const all = { taken: '149.90', refunded: '0.00', open: '0.00', refundable: '149.90', ...totals };
  expect(outcomeWithRefunds([{ payment, refunds: [], totals: all }])).toEqual({ kind, payment });
  expect(isPayable({ kind: 'refunded', payment })).toBe(false);
});

function refundPages(): [string, Refund[]][] {
  const refund = (fields: Partial<Refund>) => aRefund({ note: 'a difficult buyer', by: 'Deniz', ...fields });
  return [
    ['given back, twice', [refund(RETURNED), refund({ ...RETURNED, kind: 'void', amount: '100.00' })]],
    ['not given back', [refund({ state: 'failed', amount: '30.80', code: 'B0005' })]],
    ['given back, and more is under way', [refund(RETURNED), refund({ state: 'unknown', amount: '10.81' })]],
    ['a refund is under way', [refund({ state: 'refunding', amount: '10.81' })]],
  ];
}

function paymentOf(fields: Partial<Payment>, number = 1): Payment {
  return aPayment({ reference: ORDER.id, conversationId: `ABC${number}`, ...fields });
}

function page(payments: readonly Partial<Payment>[], details?: OrderPageDetails, language: 'tr' | 'en' = 'en'): string {
  const outcome = outcomeOf(payments.map((fields, index) => paymentOf(fields, index)));
  return orderPage(ORDER, outcome, { language, basketCount: 0 }, details);
}

/** How the outcome looks, when the page asks again and what may be done; and how the page differs from that without a payment. */
function described(
  name: string,
  payments: readonly Partial<Payment>[],
  details: OrderPageDetails,
  plain: readonly string[],
): string {
  const html = page(payments, details);
  const outcome = outcomeOf(payments.map((fields, index) => paymentOf(fields, index)));
  const [, look, kind] = /<section[^>]*class="outcome (\w+)"[^>]*data-outcome="(\w+)"/.exec(html) ?? [];
  const again = /data-look-again="(\d+)"/.exec(html)?.[1];
  const script = html.includes('/assets/order.js');
  const facts = [
    `${kind}, ${look}`,
    again === undefined ? 'does not ask again' : `asks again after ${again} s${script ? '' : ', without its script'}`,
    isPayable(outcome) ? 'can be paid' : 'cannot be paid',
    ...(isAtPage(outcome) ? ['at the page'] : []),
  ];
  const now = linesOf(html);
  const lines = now.filter((line) => !plain.includes(line)).map((line) => `+ ${line}`);
  const gone = plain.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  return [name, facts.join(', '), ...lines, ...gone].join('\n  ');
}

import type { Payment, PaymentState } from 'nestjs-card-payment';
import { aPayment } from 'nestjs-card-payment/testing';
import type { Order } from '../../sample/src/orders/order.js';
import { outcomeOf } from '../../sample/src/orders/outcome.js';
import { orderPage } from '../../sample/src/pages/order-page.js';

const ORDER: Order = {
  id: 'T-7KQ2-M9XD-4RBW',
  lines: [{ productId: 'mug', name: { tr: 'Kupa', en: 'Mug <b>' }, quantity: 1, kurus: 14_990 }],
  totalKurus: 14_990,
  status: 'open',
  placedAt: new Date('2026-03-01T09:00:00Z'),
  invoiceNumber: null,
  refundedKurus: 0,
};

function page(fields: Partial<Payment> | null, language: 'tr' | 'en' = 'en'): string {
  const payments = fields === null ? [] : [aPayment({ reference: ORDER.id, ...fields })];
  return orderPage(ORDER, outcomeOf(payments), { language, basketCount: 0 });
}

/** How the outcome looks, after how many seconds the page asks again, and what it offers. */
function shownAs(text: string): unknown[] {
  const [, look, outcome] = /<section[^>]*class="outcome (\w+)"[^>]*data-outcome="(\w+)"/.exec(text) ?? [];
  const again = /data-look-again="(\d+)"/.exec(text)?.[1] ?? null;
  return [look, outcome, again, text.includes(`href="/orders/${ORDER.id}/pay"`)];
}

function rows(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

it.each<[PaymentState | null, unknown[]]>([
  [null, ['wait', 'unpaid', null, true]],
  ['succeeded', ['good', 'paid', null, false]],
  ['charging', ['wait', 'pending', '3', false]],
  ['authorizing', ['wait', 'pending', '3', false]],
  ['unknown', ['wait', 'pending', '3', false]],
  ['review', ['wait', 'checking', '30', false]],
  ['initiating', ['wait', 'atBank', '5', true]],
  ['awaiting', ['wait', 'atBank', '5', true]],
  ['pending', ['wait', 'atPage', '5', false]],
  ['failed', ['bad', 'failed', null, true]],
  ['expired', ['bad', 'expired', null, true]],
])('an order whose payment is %s looks so', (state, expected) => {
  const text = page(state && { state });
  expect(shownAs(text)).toEqual(expected);
  // The script looks again, and a link does where there is none.
  expect(text.includes('/assets/order.js')).toBe(expected[2] !== null);
  expect(text.includes(`<a class="button" href="/orders/${ORDER.id}">`)).toBe(expected[2] !== null);
});

it('offers to pay, or to try again', () => {
  expect(page(null)).toMatch(/\/pay"\s*>Go to payment<\/a\s*>/);
  expect(page({ state: 'failed', reason: 'declined' })).toMatch(/\/pay"\s*>Try again<\/a\s*>/);
});

it('no outcome that may have moved money says that nothing was charged', () => {
  for (const state of ['succeeded', 'charging', 'authorizing', 'pending', 'unknown', 'review'] as const) {
    expect(page({ state })).not.toContain('Nothing was charged');
  }
  for (const state of ['failed', 'expired'] as const) expect(page({ state })).toContain('Nothing was charged');
});

/** The buttons in the outcome, and where they lead. */
function buttons(text: string): string[] {
  const form = /<form class="buttons"[\s\S]*?<\/form>/.exec(text)?.[0] ?? '';
  const path = /action="([^"]*)"/.exec(form)?.[1] ?? '';
  return [...form.matchAll(/<button(?: class="primary")?(?: formaction="([^"]*)")?>(.*?)<\/button>/g)].map(
    ([, other, name = '']) => `${name}: ${other ?? path}`,
  );
}

it('an open payment page can be entered again or given up', () => {
  const path = `/orders/${ORDER.id}/payment-page`;
  const open = page({ state: 'pending' });
  expect(buttons(open)).toEqual([`Continue at the payment page: ${path}`, `Pay in another way: ${path}/leave`]);
  expect(open).not.toMatch(/class="reason"/);
  for (const state of ['succeeded', 'unknown', 'awaiting', 'expired'] as const) {
    expect(buttons(page({ state }))).toEqual([]);
  }
});

it('after a decline at the payment page it says so, and that nothing was charged', () => {
  const declined = page({ state: 'pending', reason: 'declined', code: 'B0043', message: 'Stolen card' });
  expect(shownAs(declined)).toEqual(['bad', 'declinedAtPage', '5', false]);
  expect(buttons(declined)[0]).toContain('Try another card at the payment page');
  expect(declined).toContain('Nothing was charged');
  expect(declined).toContain('class="reason"');
  expect(declined).not.toMatch(/B0043|stolen/i);
});

it('says why the payment page could not be given up', () => {
  const payment = aPayment({ reference: ORDER.id, state: 'pending' });
  const shown = (payments: Payment[]) =>
    orderPage(ORDER, outcomeOf(payments), { language: 'en', basketCount: 0 }, { isPageKept: true });
  expect(shown([payment])).toContain('cannot pay in another way now');
  expect(shown([aPayment({ reference: ORDER.id })])).not.toContain('cannot pay in another way now');
});

it('does not guess the instalments that the buyer chose at the payment page', () => {
  expect(rows(page({ state: 'succeeded', kind: 'hosted' }))).not.toHaveProperty('Instalments');
});

it('tells the buyer why a payment failed, without the bank’s code', () => {
  const stolen = page({ state: 'failed', reason: 'declined', code: 'B0043', message: 'Stolen card' });
  expect(stolen).toContain('class="reason"');
  expect(stolen).not.toMatch(/B0043|stolen/i);
  for (const state of ['unknown', 'review', 'expired'] as const) {
    expect(page({ state, reason: 'declined', code: 'B0043' })).not.toMatch(/class="reason"|B0043/);
  }
});

it('shows the details that a buyer may need', () => {
  const paid = {
    state: 'succeeded',
    code: 'B0000',
    authCode: 'A-1',
    bankUniqueReferenceNumber: 'B-2',
    paymentId: 'P-3',
    maskedCardNumber: '450803******4509',
    transactionAt: new Date('2026-03-01T22:30:00Z'),
    installmentCount: 3,
  } as const;
  expect(rows(page(paid))).toEqual({
    Amount: '₺149.90',
    Instalments: '3',
    Card: '450803******4509',
    'Result code': 'B0000',
    'Authorisation code': 'A-1',
    'Bank reference': 'B-2',
    'Payment number': 'P-3',
    Date: '2 Mar 2026, 01:30:00',
  });
});

it('shows when the payment was updated if the bank gave no date', () => {
  const updatedAt = new Date('2026-03-02T09:00:00Z');
  expect(rows(page({ state: 'unknown', updatedAt }))).toMatchObject({ Date: '2 Mar 2026, 12:00:00' });
});

it.each([
  ['149.90', undefined],
  ['149.9', undefined],
  ['164.89', '₺164.89'],
  ['164,89 TL', '164,89 TL'],
  ['1'.repeat(16), '1'.repeat(16)],
  ['<b>', '&#60;b&#62;'],
  [null, undefined],
])('of what was charged, %p, it shows %p beside the amount', (chargedAmount, shown) => {
  expect(rows(page({ state: 'succeeded', chargedAmount }))['Charged']).toBe(shown);
});

it('escapes the texts of others', () => {
  const text = page({ state: 'succeeded', authCode: '<script>', paymentId: '"x"', bankUniqueReferenceNumber: "'" });
  expect(rows(text)).toMatchObject({ 'Authorisation code': '&#60;script&#62;', 'Payment number': '&#34;x&#34;' });
  expect(text).toContain('Mug &#60;b&#62;');
  expect(text).not.toContain('Mug <b>');
});

it('is in Turkish for visitors who chose Turkish', () => {
  const text = page({ state: 'succeeded' }, 'tr');
  expect(text).toContain('lang="tr"');
  expect(rows(text)).toMatchObject({ Tutar: '₺149,90' });
  expect(text).toContain('Kupa');
});

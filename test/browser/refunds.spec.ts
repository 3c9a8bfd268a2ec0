import { DeskPage } from '../desk/desk-shop.js';
import { sale } from '../rigs/sale.js';
import { useShop } from './shop.js';

const PASSWORDS = { SHOP_ADMIN_PASSWORD: 'manager’s', SHOP_CLERK_PASSWORD: 'clerk’s' };
const asStaff = (password: string) => ({
  authorization: `Basic ${Buffer.from(`Deniz:${password}`).toString('base64')}`,
  'accept-language': 'en',
});

describe('money back in the shop', () => {
  const shop = useShop(PASSWORDS, true);
  beforeEach(() => shop.simulator.reset());

  async function paidOrder(): Promise<{ readonly order: string; readonly payment: string }> {
    const order = await shop.order();
    const { conversationId } = await shop.payments.doPayment(sale('420.00', { reference: order }));
    return { order, payment: conversationId };
  }
  const buyerPage = (order: string) => DeskPage.get(`${shop.url}/orders/${order}`, { cookie: 'lang=en' });
  const desk = (payment: string, password: string) =>
    DeskPage.get(`${shop.url}/desk/payments/${payment}`, asStaff(password));

  it('a manager gives a part back at the desk, and a clerk only looks and asks', async () => {
    const { payment } = await paidOrder();
    const forClerk = await desk(payment, 'clerk’s');
    expect([forClerk.status, forClerk.acts]).toEqual([200, []]);
    const forManager = await desk(payment, 'manager’s');
    expect(forManager.acts).toEqual(['refund', 'void', 'recordRefund']);
    const { url, fields } = forManager.form('refund');
    const byClerk = await DeskPage.post(url.replace('review', 'acts'), { ...fields, amount: '10' }, asStaff('clerk’s'));
    expect(byClerk.status).toBe(403);
    const done = await (await forManager.confirm('refund', { amount: '20.50', note: 'a chip' })).follow();
    expect(done.text).toMatch(/Refund: Given back\..*by Deniz/);
    expect(shop.simulator.ledger.refunds.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual(['refund 20.50']);
  });

  // What the page says of each refund and void is in test/sample/expected/pages.txt.
  it('the buyer sees what was given back, no notes, names or failed refunds, and is not asked to pay again', async () => {
    const { order, payment } = await paidOrder();
    const money = { conversationId: payment, note: 'a difficult buyer', by: 'Deniz' };
    await shop.payments.refund({ ...money, amount: '20' });
    await shop.payments.refund({ ...money, amount: '30.80' });
    const part = await buyerPage(order);
    expect(part.html).toContain('data-outcome="paid"');
    expect(part.text).toMatch(/Given back Refund, \d\d? \w+ \d{4}, \d\d:\d\d:\d\d ₺20\.00/);
    for (const hidden of ['difficult', 'Deniz', '30.80', 'B0005']) expect(part.html).not.toContain(hidden);

    await shop.payments.refund({ ...money, amount: '400' });
    const all = await buyerPage(order);
    expect(all.html).toContain('data-outcome="refunded"');
    expect(all.text).toMatch(/Your money has been given back.*Refund, .* ₺20\.00.*Refund, .* ₺400\.00/);
    expect(all.html).not.toContain(`/orders/${order}/pay`);
    const form = await shop.get(`/orders/${order}/pay`);
    expect([form.status, form.headers.get('location')]).toEqual([303, `/orders/${order}`]);
  });
});

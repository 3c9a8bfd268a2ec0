import type { Page } from 'playwright-core';
import { until } from '../services/until.js';
import { type Method, useBuyer } from './buyer.js';
import { CARD_FORM, useShop } from './shop.js';

const CARD = /5246[ ]?7763[ ]?5690[ ]?3508/;

describe('shop', () => {
  const shop = useShop();
  const buyer = useBuyer(shop);

  const charges = (): readonly string[] => shop.simulator.ledger.charges.map(({ amount }) => amount);

  /** What the shop has of an order once its handler, which may be late, has got this event. */
  async function heardOf(orderId: string, event: string) {
    const eventsOf = () => shop.orders.eventsOf(orderId).map(({ via, type }) => `${via} ${type}`);
    // When it never is, what is there says more than a limit.
    await until(() => eventsOf().includes(`@OnPayment payment.${event}`)).catch(() => undefined);
    const { status, invoiceNumber } = shop.orders.get(orderId);
    return { status, invoiceNumber, events: eventsOf().sort() };
  }

  /** The desk's page of the last payment of an order. */
  async function atDesk(orderId: string): Promise<Page> {
    const { page } = await buyer.inTab(`${shop.url}/desk/payments?q=${orderId}`);
    await page.locator('li a').first().click();
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    return page;
  }

  describe('paying', () => {
    it.each<Method>(['Direct', '3D Secure'])('%s: the order is paid, and both sides see how', async (method) => {
      const orderId = await buyer.order('Teapot', 'Coffee cup', 'Coffee cup');
      expect(await buyer.text()).toContain('₺2,730.00');
      await buyer.pay(method);
      if (method === '3D Secure') await buyer.confirm();
      await buyer.sees('paid');

      const text = await buyer.text();
      expect(text).toContain('524677******3508');
      expect(text).toMatch(/Result code\s+B0000/);
      expect(text).toMatch(/Authorisation code\s+\w+/);
      expect(text).not.toMatch(CARD);
      expect(charges()).toEqual(['2730.00']);
      expect(await buyer.page.locator('.basket-link b').count()).toBe(0);

      expect(await heardOf(orderId, 'succeeded')).toEqual({
        status: 'paid',
        invoiceNumber: expect.any(Number) as unknown,
        events: ['@OnEvent payment.succeeded', '@OnPayment payment.succeeded'],
      });
      const desk = await atDesk(orderId);
      expect(await desk.locator('main').innerText()).toMatch(new RegExp(`Kind\\s+${method}`));
    });

    it('without scripts', async () => {
      await buyer.enter({ javaScriptEnabled: false });
      await buyer.order('Breakfast bowl');
      await buyer.typeIn();
      await buyer.submit();
      await buyer.button('Continue').click();
      await buyer.confirm();
      await buyer.button('Continue').click();
      await buyer.sees('paid');
      expect(charges()).toEqual(['560.00']);
    });
  });

  describe('payments that fail', () => {
    it('declined for lack of funds', async () => {
      const orderId = await buyer.order('Insufficient funds');
      await buyer.pay('3D Secure');
      await buyer.confirm();
      await buyer.sees('failed');
      expect(await buyer.text()).toContain('The card’s funds or limit are not sufficient.');
      expect(charges()).toEqual([]);

      expect(await heardOf(orderId, 'failed')).toEqual({
        status: 'open',
        invoiceNumber: null,
        events: ['@OnEvent payment.failed', '@OnPayment payment.failed'],
      });
      const desk = await atDesk(orderId);
      expect(await desk.locator('main').innerText()).toMatch(/Not paid[\s\S]*B0051[\s\S]*the bank declined/);
    });

    it('cancelled at the bank, then paid after all', async () => {
      const orderId = await buyer.order('Carafe');
      await buyer.pay('3D Secure');
      await buyer.button('Cancel').click();
      await buyer.sees('failed');
      expect(await buyer.text()).toContain('You cancelled at your bank.');
      expect(charges()).toEqual([]);

      await buyer.page.getByRole('link', { name: 'Try again' }).click();
      await buyer.pay('3D Secure');
      await buyer.confirm();
      await buyer.sees('paid');
      expect(buyer.orderId()).toBe(orderId);
      expect(charges()).toEqual(['1240.00']);
      await heardOf(orderId, 'succeeded');
      const payments = await shop.payments.findByReference(orderId);
      expect(payments.map(({ state, code }) => `${state} ${code}`)).toEqual(['failed B0017', 'succeeded B0000']);
    });

    it('an unclear answer: the buyer waits, the merchant asks the gateway, and the order is paid', async () => {
      // The shop itself asks after 12 s: until the merchant has asked, too, the gateway answers nobody.
      const inquiry = shop.simulator.fail({ operation: 'CheckPayment', kind: 'stall', times: Infinity });
      const orderId = await buyer.order('Unclear answer');
      await buyer.pay('Direct');
      await buyer.sees('pending');
      expect(await buyer.text()).toContain('Please do not pay again');
      await buyer.page.goto(`${shop.url}/orders/${orderId}/pay`);
      await buyer.sees('pending');
      expect((await heardOf(orderId, 'unknown')).status).toBe('checking');

      const desk = await atDesk(orderId);
      const ask = desk.getByRole('button', { name: 'Ask the gateway' });
      const before = inquiry.timesPlayed;
      await Promise.all([ask.click(), until(() => inquiry.timesPlayed > before).then(() => inquiry.release())]);
      await desk.locator('h1 [data-state="succeeded"]').waitFor();
      // The buyer's page asks again by itself.
      await buyer.sees('paid');
      expect(charges()).toEqual(['40.96']);
    });
  });

  it('the card form says what is wrong, and does not show the card again', async () => {
    const orderId = await buyer.order('Coffee cup');
    await buyer.fillIn('Direct');
    await buyer.page.getByLabel('Card number').fill('5246 7763 5690 3507');
    await buyer.page.getByLabel('Expiry').fill('01/20');
    await buyer.submit();
    await buyer.page.getByRole('alert').waitFor();

    expect(await buyer.page.locator(':focus').innerText()).toMatch(/^Please check your details\s+Nothing was charged/);
    expect(await buyer.page.locator('.field', { has: buyer.page.locator('.problem') }).allInnerTexts()).toEqual([
      expect.stringMatching(/^Card number\s+Card number has a mistyped digit$/),
      expect.stringMatching(/^Expiry[^]*in the past/),
    ]);
    for (const label of ['Card number', 'Expiry', 'Security code']) {
      expect(await buyer.page.getByLabel(label).inputValue()).toBe('');
    }
    expect(await buyer.page.getByLabel('Name on the card').inputValue()).toBe('ADA YILMAZ');
    expect(await buyer.page.getByRole('radio', { name: 'Direct' }).isChecked()).toBe(true);
    expect(await buyer.page.locator('.checkout').innerHTML()).not.toContain('5246');
    expect(buyer.page.url()).toBe(`${shop.url}/orders/${orderId}/pay`);
    // The instalments of the card may have been looked up.
    expect(shop.simulator.requests.filter(({ operation }) => operation !== 'CheckBin')).toEqual([]);
    expect(await shop.payments.findByReference(orderId)).toEqual([]);
  });

  // Criminals try cards one after another.
  it('an order has eight attempts', async () => {
    const orderId = await buyer.order('Insufficient funds');
    const statuses: number[] = [];
    for (let cvv = 100; cvv < 109; cvv += 1) {
      const card = { ...CARD_FORM, cvv: String(cvv), method: 'direct' };
      statuses.push((await shop.post(`/orders/${orderId}/pay`, card)).status);
    }
    expect(statuses.slice(-2)).toEqual([303, 429]);
  });

  describe('once is enough', () => {
    it.each<Method>(['Direct', '3D Secure'])(
      '%s: Back, refresh and the bank’s page charge nothing more',
      async (method) => {
        const orderId = await buyer.order('Coffee cup');
        await buyer.pay(method);
        const bank = buyer.page.url();
        if (method === '3D Secure') await buyer.confirm();
        await buyer.sees('paid');

        await buyer.page.reload();
        await buyer.sees('paid');
        await buyer.goBack();
        await buyer.sees('paid');
        for (const address of [`${shop.url}/orders/${orderId}/pay`, bank]) {
          await buyer.page.goto(address);
          await buyer.sees('paid');
        }
        expect(charges()).toEqual(['420.00']);
        const { ledger } = shop.simulator;
        expect(ledger.calls('DoPayment') + ledger.calls('Auth3d')).toBe(1);
      },
    );

    it('two tabs that pay one order directly', async () => {
      await buyer.order('Slow bank');
      const other = await buyer.inTab();
      await Promise.all([buyer.fillIn('Direct'), other.fillIn('Direct')]);
      await Promise.all([buyer.submit(), other.submit()]);
      await Promise.all([buyer.sees('paid'), other.sees('paid')]);
      expect(charges()).toEqual(['40.61']);
    });

    it('an order that was paid stays paid over a restart', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.pay('Direct');
      await buyer.sees('paid');
      Object.assign(shop, await shop.restart());
      await buyer.page.goto(`${shop.url}/orders/${orderId}/pay`);
      await buyer.sees('paid');
      expect(shop.simulator.requests).toEqual([]);
      // What was put into the basket since stays there; what was paid leaves it.
      const emptied = async (basket: string) =>
        (await shop.get(`/orders/${orderId}`, { cookie: `basket=${basket}` })).headers.get('set-cookie');
      expect([await emptied('cup.2'), await emptied('cup.1')]).toEqual([null, expect.stringMatching(/^basket=;/)]);
    });
  });

  describe('the shop', () => {
    it('has a basket', async () => {
      const { page } = buyer;
      await page.goto(`${shop.url}/basket`);
      await page.getByText('Your basket is empty.').waitFor();
      await page.goto(shop.url);
      await buyer.button('Add to basket: Coffee cup').click();
      await page.getByLabel('Quantity of Coffee cup').selectOption('3');
      await page.locator('.total', { hasText: '₺1,260.00' }).waitFor();
      expect(await page.locator('.basket-link b').innerText()).toBe('3');
      await buyer.button('Remove: Coffee cup').click();
      await page.getByText('Your basket is empty.').waitFor();
      const answer = await shop.post('/orders');
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/basket']);
    });

    it('speaks Turkish and English', async () => {
      const { page } = await buyer.enter({ locale: 'tr-TR' });
      expect(await page.locator('html').getAttribute('lang')).toBe('tr');
      await buyer.button('Sepete ekle: Kahve fincanı').click();
      await buyer.button('Ödemeye geç').click();
      expect(await page.locator('main').innerText()).toContain('₺420,00');
      await page.getByRole('link', { name: 'EN', exact: true }).click();
      await buyer.button('Pay ₺420.00').waitFor();
      await page.getByRole('link', { name: 'TR', exact: true }).click();

      await buyer.button(/^5246 .*Bu test kartını doldur$/).click();
      await buyer.button('₺420,00 öde').click();
      await buyer.confirmInTurkish();
      await buyer.sees('paid');
      expect(await page.locator('h1').innerText()).toBe('Teşekkürler, siparişiniz ödendi');
    });

    it('has its picture taken for the README', async () => {
      await buyer.page.setViewportSize({ width: 1200, height: 1150 });
      const picture = await buyer.page.screenshot({ path: process.env.SHOP_PICTURE });
      // A picture of one colour would have a few kilobytes.
      expect(picture.length).toBeGreaterThan(40 * 1024);
    });
  });
});

// What is posted to it nevertheless is in shop-attacks.spec.ts.
describe('a shop with a real gateway', () => {
  const shop = useShop({}, true);
  const buyer = useBuyer(shop);

  it('offers no way around 3D Secure, and no test cards', async () => {
    await buyer.order('Coffee cup');
    expect(await buyer.page.getByRole('radio').count()).toBe(0);
    expect(await buyer.button(/Fill in this test card$/).count()).toBe(0);
    await buyer.typeIn({ number: '4508 0345 0803 4509', expiry: '12 / 2036', phone: '0555 111 22 33' });
    await buyer.submit();
    await buyer.confirmInTurkish();
    await buyer.sees('paid');
    expect(shop.simulator.ledger.calls('DoPayment')).toBe(0);
    expect(shop.simulator.ledger.charges).toMatchObject([{ amount: '420.00' }]);
  });
});

import { ODD } from '../rigs/odd-answers.js';
import { until } from '../services/until.js';
import { DECLINED_CARD, TEST_CARD, useBuyer } from './buyer.js';
import { CARD_FORM, useShop } from './shop.js';

const CARDS = [TEST_CARD, DECLINED_CARD].map((card) => card.replaceAll(' ', String.raw`(?:[^\w%]|%20)*`));
/** What is typed at the payment page alone. */
const TYPED = new RegExp(String.raw`${CARDS.join('|')}|\b(?:cardNo|cvv)\b`, 'i');

describe('hosted', () => {
  const shop = useShop();
  const buyer = useBuyer(shop);

  afterEach(() => {
    expect(sentToShop().filter((sent) => TYPED.test(sent))).toEqual([]);
  });

  /** Addresses, headers, forms. */
  const sentToShop = (): string[] =>
    buyer.requests.map((sent) => `${sent.url()} ${JSON.stringify(sent.headers())} ${sent.postData() ?? ''}`);
  const charges = (): readonly string[] => shop.simulator.ledger.charges.map(({ amount }) => amount);
  const pagesOpened = (): number => shop.simulator.ledger.calls('hostedPage');
  const statesOf = async (orderId: string): Promise<string[]> =>
    (await shop.payments.findByReference(orderId)).map(({ kind, state, reason }) => `${kind} ${state} ${reason}`);

  /** Goes to the payment page of a new order, and comes back without having paid. */
  async function leavePage(): Promise<{ readonly orderId: string; readonly opened: string }> {
    const orderId = await buyer.order('Coffee cup');
    await buyer.goToPaymentPage();
    const opened = buyer.page.url();
    await buyer.goBack();
    await buyer.sees('atPage');
    expect(await buyer.text()).not.toContain('Nothing was charged');
    return { orderId, opened };
  }

  describe('at the payment page', () => {
    it('a buyer pays, and both sides see it', async () => {
      const { page } = buyer;
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      await buyer.payAtPage();
      await buyer.sees('paid');
      expect(sentToShop().join('\n')).toContain('MaskedCardNumber=524677');
      expect(await buyer.text()).toMatch(/Result code\s+B0000/);
      expect(charges()).toEqual(['420.00']);
      // What the shop itself sent to the gateway has no card either.
      expect(JSON.stringify(shop.simulator.requests.map(({ body }) => body))).not.toMatch(
        /cardDetails|5246776356903508/,
      );

      await until(() => shop.orders.get(orderId).status === 'paid');
      await page.goto(`${shop.url}/desk/payments?q=${orderId}`);
      await page.locator('li a').first().click();
      await page.locator('h1 [data-state="succeeded"]').waitFor();
      expect(await page.locator('main').innerText()).toMatch(/Kind\s+At the gateway’s page/);
    });

    it('a card is declined, and another one pays at the same page', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      const opened = buyer.page.url();
      await buyer.payAtPage(DECLINED_CARD);
      await buyer.sees('declinedAtPage');
      expect(await buyer.text()).toMatch(/Your card was declined[^]*Nothing was charged/);
      expect(charges()).toEqual([]);

      await buyer.button('Try another card at the payment page').click();
      await buyer.seesPaymentPage();
      expect(buyer.page.url()).toBe(opened);
      await buyer.button('Cancel').click();
      await buyer.sees('declinedAtPage');
      await buyer.button('Try another card at the payment page').click();
      await buyer.seesPaymentPage();
      await buyer.payAtPage();
      await buyer.sees('paid');
      expect(pagesOpened()).toBe(1);
      expect(charges()).toEqual(['420.00']);
      expect(await statesOf(orderId)).toEqual(['hosted succeeded null']);
    });

    it('Back leads to the order, not to a form that could pay twice', async () => {
      const { orderId } = await leavePage();
      expect(buyer.page.url()).toBe(`${shop.url}/orders/${orderId}`);
      await buyer.page.goto(`${shop.url}/orders/${orderId}/pay`);
      await buyer.sees('atPage');
      // Another browser, or a script, posts the card form nevertheless.
      const posted = await shop.post(`/orders/${orderId}/pay`, { ...CARD_FORM, method: 'direct' });
      expect([posted.status, posted.headers.get('location')]).toEqual([303, `/orders/${orderId}`]);
      expect(charges()).toEqual([]);
      expect(await statesOf(orderId)).toEqual(['hosted pending null']);
    });
  });

  describe('paying in another way', () => {
    it('gives the page up, and the card form works', async () => {
      const { page } = buyer;
      const { orderId, opened } = await leavePage();
      await buyer.button('Pay in another way').click();
      await page.getByLabel('Card number').waitFor();
      expect(page.url()).toBe(`${shop.url}/orders/${orderId}/pay`);
      await page.goto(`${shop.url}/orders/${orderId}`);
      await buyer.sees('unpaid');
      await page.getByRole('link', { name: 'Go to payment' }).click();

      await buyer.fillIn('Direct');
      await buyer.submit();
      await buyer.sees('paid');
      // Here the card is posted to the shop, as it should be, once.
      const posted = buyer.requests.findIndex((sent) => sent.postData()?.includes('number=5246'));
      expect(posted).toBeGreaterThan(-1);
      buyer.requests.splice(posted, 1);
      expect(await statesOf(orderId)).toEqual(['hosted expired abandoned', 'direct succeeded null']);
      expect(charges()).toEqual(['420.00']);

      // The page that was given up is paid after all, in another tab: the order stays paid, and staff see it.
      const late = await buyer.inTab(opened);
      await late.payAtPage();
      await late.sees('paid');
      expect(await statesOf(orderId)).toEqual(['hosted review moved_after_all', 'direct succeeded null']);
    });

    it('finds out that the page was paid', async () => {
      const { orderId } = await leavePage();
      const [payment] = await shop.payments.findByReference(orderId);
      shop.simulator.payAtPage(payment!.conversationId, { callback: 'none' });
      await buyer.button('Pay in another way').click();
      await buyer.sees('paid');
    });

    it('waits while the gateway does not say whether the page was paid', async () => {
      const { orderId } = await leavePage();
      shop.simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503 });
      await buyer.button('Pay in another way').click();
      await buyer.page.getByText('so you cannot pay in another way now').waitFor();
      expect(await statesOf(orderId)).toEqual(['hosted pending null']);
      await buyer.button('Pay in another way').click();
      await buyer.page.getByLabel('Card number').waitFor();
    });
  });

  describe('opening the page', () => {
    it.each([true, false])('a double click opens one page (scripts: %s)', async (javaScriptEnabled) => {
      const { page } = await buyer.enter({ javaScriptEnabled });
      const orderId = await buyer.order('Coffee cup');
      await buyer.button('Pay at the bank’s page').dblclick();
      // The second click may find that the page is being opened: then the order page leads there.
      // The second click breaks the first one's navigation off.
      await until(() => [/\/hosted\//, new RegExp(`/orders/${orderId}$`)].some((path) => path.test(page.url())));
      await page.waitForLoadState();
      if (page.url().startsWith(shop.url)) await buyer.button('Continue at the payment page').click();
      await buyer.seesPaymentPage();
      expect(pagesOpened()).toBe(1);
      await buyer.payAtPage();
      if (!javaScriptEnabled) await buyer.button('Continue').click();
      await buyer.sees('paid');
      expect(await statesOf(orderId)).toEqual(['hosted succeeded null']);
    });

    it('fails: the order page says so, and that it can be tried again', async () => {
      const orderId = await buyer.order('Coffee cup');
      shop.simulator.fail({ operation: 'hostedPage', ...ODD['redirect-missing'] });
      await buyer.button('Pay at the bank’s page').click();
      await buyer.sees('failed');
      expect(await buyer.text()).toContain('The payment could not be started. Please try again.');
      expect(await buyer.text()).toContain('Nothing was charged.');
      await buyer.page.getByRole('link', { name: 'Try again' }).click();
      await buyer.goToPaymentPage();
      await buyer.payAtPage();
      await buyer.sees('paid');
      expect(await statesOf(orderId)).toEqual(['hosted failed unreadable', 'hosted succeeded null']);
    });

    it('takes the order’s amount, whatever is posted', async () => {
      const orderId = await shop.order();
      const answer = await shop.post(`/orders/${orderId}/payment-page`, {
        amount: '0.01',
        reference: 'x',
        'transactionDetails[amount]': '0.01',
        redirectUrl: 'https://x.test',
      });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.text()).toContain(`content="0; url=${shop.simulator.publicUrl}/hosted/`);
      expect(await shop.payments.findByReference(orderId)).toMatchObject([{ amount: '420.00', state: 'pending' }]);
    });

    it('and giving it up need a form of the shop, an order and an open page', async () => {
      const orderId = await shop.order();
      const path = `/orders/${orderId}/payment-page`;
      const left = await shop.post(`${path}/leave`);
      expect([left.status, left.headers.get('location')]).toEqual([303, `/orders/${orderId}/pay`]);
      for (const address of [path, `${path}/leave`]) {
        expect((await shop.post(address, {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
        expect((await shop.post(address.replace(orderId, 'none'))).status).toBe(404);
      }
      expect(await statesOf(orderId)).toEqual([]);
      expect((await shop.get(path)).headers.get('location')).toBe(`/orders/${orderId}`);
    });
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { barriersOf } from './accessible-page.js';
import { useBrowser } from './shared-browser.js';
import { Buyer } from './buyer.js';
import { openShop, useShop } from './shop.js';

const CREDIT = '4508034508034509';
const DEBIT = '5269737320050521';
const RIGHT_CODE = '123456';

let buyer: Buyer;
let page: Page;
/** What the browser sent to look a card up. */
let lookUps: Request[];

describe('instalments', () => {
  const used = useBrowser();
  const shop = useShop({ SHOP_ATTEMPTS_PER_ORDER: '1000' });

  beforeEach(async () => {
    buyer = await Buyer.enter(used.browser, shop);
    page = buyer.page;
    lookUps = [];
    page.on('request', (request) => {
      if (request.url().includes('/card')) lookUps.push(request);
    });
  });
  afterEach(async () => {
    await buyer.leave();
    expect(buyer.complaints.filter((text) => !/status of 429/.test(text))).toEqual([]);
    shop.simulator.reset();
  });

  const options = async (): Promise<string[]> =>
    (await page.locator('#instalments option').allInnerTexts()).map((text) => text.trim());
  const told = (): Promise<string> => page.locator('#card-told').innerText();
  const seesCard = (text: string): Promise<void> => page.getByRole('status').filter({ hasText: text }).waitFor();
  const askedAtGateway = (): number => shop.simulator.ledger.calls('CheckBin');

  describe('as the buyer types', () => {
    it('bank, instalments and totals are shown, and what was shown is charged; all by keyboard', async () => {
      const orderId = await buyer.order('Olive-branch vase');
      expect(await options()).toEqual(['Pay in full']);
      await type(CREDIT);
      await seesCard('Örnek Bankası · VISA · credit card');
      expect(await options()).toEqual([
        'Pay in full',
        '2 instalments of about ₺740.00',
        '3 instalments of about ₺493.33',
        '6 instalments, ₺1,517.00 in all',
        '9 instalments, ₺1,552.52 in all',
        '12 instalments, ₺1,587.30 in all',
      ]);
      await page.keyboard.press('Tab');
      await page.keyboard.type('6');
      const button = page.getByRole('button', { name: 'Pay ₺1,517.00' });
      expect(await button.count()).toBe(1);
      expect(await told()).toContain('The total includes a fee of ₺37.00.');
      expect(await barriersOf(page)).toEqual([]);

      await button.focus();
      await page.keyboard.press('Enter');
      await buyer.confirm(RIGHT_CODE);
      await buyer.sees('paid');
      expect(await buyer.text()).toMatch(/Charged\s+₺1,517\.00/);
      expect(shop.simulator.ledger.charges).toMatchObject([{ amount: '1517.00', installmentCount: 6 }]);
      const [payment] = await shop.payments.findByReference(orderId);
      expect(payment).toMatchObject({ amount: '1480.00', chargedAmount: '1517.00', installmentCount: 6 });

      // Only the first digits were sent, in no address, once.
      expect(lookUps.map((request) => [request.method(), request.postData()])).toEqual([['POST', 'bin=45080345']]);
      expect(lookUps.map((request) => request.url())).toEqual([`${shop.url}/orders/${orderId}/card/choices`]);
    });

    it('a card without instalments can pay in full; another card, and a number that is deleted, are told as well', async () => {
      await buyer.order('Coffee cup');
      await page.getByLabel('Card number').fill(DEBIT);
      await seesCard('Deneme Bankası · MASTERCARD · debit card. With this card you can pay in full');
      expect(await options()).toEqual(['Pay in full']);
      await page.getByLabel('Card number').fill(CREDIT);
      await seesCard('credit card');
      expect((await options()).length).toBe(6);
      await page.getByLabel('Card number').fill('4508');
      await seesCard('Your bank and your instalments are shown');
      expect(await options()).toEqual(['Pay in full']);
    });

    it('the answer about an earlier number is not shown', async () => {
      await buyer.order('Coffee cup');
      const slow = shop.simulator.fail({ operation: 'CheckBin', kind: 'stall' });
      await page.getByLabel('Card number').fill('46918107');
      await page.waitForRequest('**/card/choices');
      await page.getByLabel('Card number').fill(DEBIT);
      // Nor what an earlier number was offered.
      expect(await options()).toEqual(['Pay in full']);
      await seesCard('debit card');
      slow.release();
      await page.waitForTimeout(300);
      expect(await told()).toContain('debit card');
    });

    it('a gateway that is silent holds up nobody, and promises no totals', async () => {
      await buyer.order('Coffee cup');
      shop.simulator.fail({ operation: 'CheckBin', kind: 'stall', times: 2 });
      await page.getByLabel('Card number').fill('4111 1111 1111 1111');
      await seesCard('Your bank may add a fee for instalments');
      expect(await options()).toEqual(['Pay in full', ...[2, 3, 6, 9, 12].map((count) => `${count} instalments`)]);
    });
  });

  describe('a form that was changed', () => {
    it('has no total: the shop and the gateway decide', async () => {
      await buyer.order('Olive-branch vase');
      await buyer.fillIn('Direct');
      await page.getByLabel('Instalments').selectOption('6');
      await page.evaluate(`(() => {
      const form = document.querySelector('[data-checkout]');
      for (const name of ['total', 'amount', 'fee', 'transactionDetails[amount]', 'chargedAmount']) {
        form.insertAdjacentHTML('beforeend', '<input type="hidden" name="' + name + '" value="1.00">');
      }
      const option = form.elements.instalments.selectedOptions[0];
      option.textContent = '6 instalments, ₺1.00 in all';
      option.dataset.pay = 'Pay ₺1.00';
    })()`);
      await buyer.submit();
      await buyer.sees('paid');
      expect(shop.simulator.ledger.charges).toMatchObject([{ amount: '1517.00', installmentCount: 6 }]);
    });

    it('cannot ask for instalments that the card does not have', async () => {
      await buyer.order('Coffee cup');
      await buyer.fillIn('Direct');
      await seesCard('credit card');
      await page.evaluate(`(() => {
      document.querySelector('#number').value = '${DEBIT}';
      document.querySelector('#instalments').replaceChildren(new Option('6', '6', true, true));
    })()`);
      await buyer.submit();
      await page.getByRole('alert').waitFor();
      expect(await buyer.text()).toContain('This card cannot pay in so many instalments');
      expect(await options()).toEqual(['Pay in full']);
      expect(shop.simulator.ledger.charges).toEqual([]);
      expect(await barriersOf(page)).toEqual([]);
    });
  });

  it('without script, the buyer asks first', async () => {
    const plain = await Buyer.enter(used.browser, shop, { javaScriptEnabled: false });
    page = plain.page;
    await plain.order('Olive-branch vase');
    await page.getByLabel('First digits of the card').fill('450803');
    await page.getByRole('button', { name: 'Show instalments' }).click();
    await seesCard('Örnek Bankası · VISA · credit card');
    await page.getByLabel('Mobile phone').fill('0555 111 22 33');
    await page.getByLabel('Name on the card').fill('ADA YILMAZ');
    await page.getByLabel('Card number').fill(CREDIT);
    await page.getByLabel('Expiry').fill('12/36');
    await page.getByLabel('Security code').fill('000');
    await page.getByLabel('Instalments').selectOption({ label: '6 instalments, ₺1,517.00 in all' });
    await page.getByRole('radio', { name: 'Direct' }).check();
    await plain.submit();
    await plain.sees('paid');
    expect(shop.simulator.ledger.charges).toMatchObject([{ amount: '1517.00' }]);
    await plain.leave();
  });

  describe('someone who hammers it', () => {
    const ask = (orderId: string, bin: string): Promise<Response> =>
      fetch(`${shop.url}/orders/${orderId}/card/choices`, { method: 'POST', body: new URLSearchParams({ bin }) });

    it('with whole numbers, or anything else, reaches no gateway', async () => {
      const orderId = await buyer.order('Coffee cup');
      for (const bin of [CREDIT, '450803450', '45080', '', '４５０８０３', '450803; drop']) {
        const answer = await ask(orderId, bin);
        expect(answer.status).toBe(400);
        expect(await answer.text()).not.toContain('45080');
      }
      expect((await ask('NO-SUCH-ORDER', '450803')).status).toBe(404);
      expect(askedAtGateway()).toBe(0);
    });

    it('with the same digits asks the gateway once; with others only so many at once, and so often', async () => {
      const orderId = await buyer.order('Coffee cup');
      await Promise.all(Array.from({ length: 10 }, () => ask(orderId, '45440011')));
      expect(askedAtGateway()).toBe(1);
      const hanging = shop.simulator.fail({ operation: 'CheckBin', kind: 'stall', times: 100 });
      const answers = await Promise.all(Array.from({ length: 30 }, (_, step) => ask(orderId, String(454_100 + step))));
      hanging.release();
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);

      const limited = await shopWithLimit();
      const order = await limited.order();
      const later = [];
      for (let step = 0; step < 12; step += 1) later.push((await limited.ask(order, '454401')).status);
      await limited.close();
      expect(later).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
    });

    /** A shop that takes two cards of a visitor in an hour, and so ten lookups. */
    async function shopWithLimit() {
      const other = await openShop({ SHOP_ATTEMPTS_PER_VISITOR: '2' });
      const visitor = await Buyer.enter(used.browser, other);
      return {
        order: () => visitor.order('Coffee cup'),
        ask: (orderId: string, bin: string) =>
          fetch(`${other.url}/orders/${orderId}/card/choices`, { method: 'POST', body: new URLSearchParams({ bin }) }),
        close: async () => {
          await visitor.leave();
          await other.close();
        },
      };
    }
  });
});

/** Fills in everything else, without a mouse. */
async function type(number: string): Promise<void> {
  await page.getByLabel('Mobile phone').focus();
  await page.keyboard.type('05551112233');
  await page.keyboard.press('Tab');
  await page.keyboard.type('ADA YILMAZ');
  await page.keyboard.press('Tab');
  await page.keyboard.type(number, { delay: 5 });
  await page.keyboard.press('Tab');
  await page.keyboard.type('1236');
  await page.keyboard.press('Tab');
  await page.keyboard.type('000');
}

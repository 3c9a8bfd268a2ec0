import { barriersOf } from './accessible-page.js';
import { useBuyer } from './buyer.js';
import { useShop } from './shop.js';

const CREDIT = '4508034508034509';
const DEBIT = '5269737320050521';

describe('instalments', () => {
  const shop = useShop({ SHOP_ATTEMPTS_PER_ORDER: '1000' });
  const buyer = useBuyer(shop);

  const options = async (): Promise<string[]> =>
    (await buyer.page.locator('#instalments option').allInnerTexts()).map((text) => text.trim());
  const told = (): Promise<string> => buyer.page.locator('#card-told').innerText();
  const seesCard = (text: string): Promise<void> => buyer.page.getByRole('status').filter({ hasText: text }).waitFor();
  const typeNumber = (number: string): Promise<void> => buyer.page.getByLabel('Card number').fill(number);

  describe('as the buyer types', () => {
    it('bank, instalments and totals are shown, and what was shown is charged; all by keyboard', async () => {
      const { page } = buyer;
      const orderId = await buyer.order('Olive-branch vase');
      expect(await options()).toEqual(['Pay in full']);
      await page.getByLabel('Mobile phone').focus();
      for (const text of ['05551112233', 'ADA YILMAZ', CREDIT, '1236', '000']) {
        await page.keyboard.type(text, { delay: 5 });
        await page.keyboard.press('Tab');
      }
      await seesCard('Örnek Bankası · VISA · credit card');
      expect(await options()).toEqual([
        'Pay in full',
        '2 instalments of about ₺740.00',
        '3 instalments of about ₺493.33',
        '6 instalments, ₺1,517.00 in all',
        '9 instalments, ₺1,552.52 in all',
        '12 instalments, ₺1,587.30 in all',
      ]);
      await page.keyboard.type('6');
      const button = buyer.button('Pay ₺1,517.00');
      expect(await button.count()).toBe(1);
      expect(await told()).toContain('The total includes a fee of ₺37.00.');
      expect(await barriersOf(page)).toEqual([]);

      await button.focus();
      await page.keyboard.press('Enter');
      await buyer.confirm();
      await buyer.sees('paid');
      expect(await buyer.text()).toMatch(/Charged\s+₺1,517\.00/);
      expect(shop.simulator.ledger.charges).toMatchObject([{ amount: '1517.00', installmentCount: 6 }]);
      const [payment] = await shop.payments.findByReference(orderId);
      expect(payment).toMatchObject({ amount: '1480.00', chargedAmount: '1517.00', installmentCount: 6 });

      // Only the first digits were sent, in no address, once.
      const lookUps = buyer.requests.filter((request) => request.url().includes('/card'));
      expect(lookUps.map((request) => [request.method(), request.url(), request.postData()])).toEqual([
        ['POST', `${shop.url}/orders/${orderId}/card/choices`, 'bin=45080345'],
      ]);
    });

    it('a card without instalments can pay in full; another card, and a number that is deleted, are told as well', async () => {
      await buyer.order('Coffee cup');
      await typeNumber(DEBIT);
      await seesCard('Deneme Bankası · MASTERCARD · debit card. With this card you can pay in full');
      expect(await options()).toEqual(['Pay in full']);
      await typeNumber(CREDIT);
      await seesCard('credit card');
      expect((await options()).length).toBe(6);
      await typeNumber('4508');
      await seesCard('Your bank and your instalments are shown');
      expect(await options()).toEqual(['Pay in full']);
    });

    it('the answer about an earlier number is not shown', async () => {
      await buyer.order('Coffee cup');
      const slow = shop.simulator.fail({ operation: 'CheckBin', kind: 'stall' });
      await typeNumber('46918107');
      await buyer.page.waitForRequest('**/card/choices');
      await typeNumber(DEBIT);
      // Nor what an earlier number was offered.
      expect(await options()).toEqual(['Pay in full']);
      await seesCard('debit card');
      slow.release();
      await buyer.page.waitForTimeout(300);
      expect(await told()).toContain('debit card');
    });

    it('a gateway that is silent holds up nobody, and promises no totals', async () => {
      await buyer.order('Coffee cup');
      shop.simulator.fail({ operation: 'CheckBin', kind: 'stall', times: 2 });
      await typeNumber('4111 1111 1111 1111');
      await seesCard('Your bank may add a fee for instalments');
      expect(await options()).toEqual(['Pay in full', ...[2, 3, 6, 9, 12].map((count) => `${count} instalments`)]);
    });
  });

  describe('a form that was changed', () => {
    it('has no total: the shop and the gateway decide', async () => {
      await buyer.order('Olive-branch vase');
      await buyer.fillIn('Direct');
      await buyer.page.getByLabel('Instalments').selectOption('6');
      await buyer.page.evaluate(`(() => {
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
      await buyer.page.evaluate(`(() => {
      document.querySelector('#number').value = '${DEBIT}';
      document.querySelector('#instalments').replaceChildren(new Option('6', '6', true, true));
    })()`);
      await buyer.submit();
      await buyer.page.getByRole('alert').waitFor();
      expect(await buyer.text()).toContain('This card cannot pay in so many instalments');
      expect(await options()).toEqual(['Pay in full']);
      expect(shop.simulator.ledger.charges).toEqual([]);
      expect(await barriersOf(buyer.page)).toEqual([]);
    });
  });

  it('without script, the buyer asks first', async () => {
    const { page } = await buyer.enter({ javaScriptEnabled: false });
    await buyer.order('Olive-branch vase');
    await page.getByLabel('First digits of the card').fill('450803');
    await buyer.button('Show instalments').click();
    await seesCard('Örnek Bankası · VISA · credit card');
    await buyer.typeIn();
    await page.getByLabel('Instalments').selectOption({ label: '6 instalments, ₺1,517.00 in all' });
    await page.getByRole('radio', { name: 'Direct' }).check();
    await buyer.submit();
    await buyer.sees('paid');
    expect(shop.simulator.ledger.charges).toMatchObject([{ amount: '1517.00' }]);
  });

  // How often a visitor may ask in an hour is in shop-attacks.spec.ts.
  describe('someone who hammers it', () => {
    const ask = (orderId: string, bin: string): Promise<Response> =>
      shop.post(`/orders/${orderId}/card/choices`, { bin });
    const askedAtGateway = (): number => shop.simulator.ledger.calls('CheckBin');

    it('with whole numbers, or anything else, reaches no gateway', async () => {
      const orderId = await shop.order();
      for (const bin of [CREDIT, '450803450', '45080', '', '４５０８０３', '450803; drop']) {
        const answer = await ask(orderId, bin);
        expect(answer.status).toBe(400);
        expect(await answer.text()).not.toContain('45080');
      }
      expect((await ask('NO-SUCH-ORDER', '450803')).status).toBe(404);
      expect(askedAtGateway()).toBe(0);
    });

    it('with the same digits asks the gateway once; with others only so many at once', async () => {
      const orderId = await shop.order();
      await Promise.all(Array.from({ length: 10 }, () => ask(orderId, '45440011')));
      expect(askedAtGateway()).toBe(1);
      const hanging = shop.simulator.fail({ operation: 'CheckBin', kind: 'stall', times: 100 });
      const answers = await Promise.all(Array.from({ length: 30 }, (_, step) => ask(orderId, String(454_100 + step))));
      hanging.release();
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    });
  });
});

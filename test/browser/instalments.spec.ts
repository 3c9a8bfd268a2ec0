import { useBuyer } from './buyer.js';
import { useShop } from './shop.js';

const CREDIT = '4508034508034509';
const DEBIT = '5269737320050521';

describe('instalments', () => {
  const shop = useShop();
  const buyer = useBuyer(shop);

  const options = async (): Promise<string[]> =>
    (await buyer.page.locator('#instalments option').allInnerTexts()).map((text) => text.trim());
  const seesCard = (text: string): Promise<void> => buyer.page.getByRole('status').filter({ hasText: text }).waitFor();
  const typeNumber = (number: string): Promise<void> => buyer.page.getByLabel('Card number').fill(number);

  it('are shown with their totals as the buyer types, and what was shown is charged, whatever else is posted', async () => {
    const { page } = buyer;
    const orderId = await buyer.order('Olive-branch vase');
    expect(await options()).toEqual(['Pay in full']);
    await buyer.typeIn({ number: CREDIT });
    await seesCard('Örnek Bankası · VISA · credit card');
    expect(await options()).toEqual([
      'Pay in full',
      '2 instalments of about ₺740.00',
      '3 instalments of about ₺493.33',
      '6 instalments, ₺1,517.00 in all',
      '9 instalments, ₺1,552.52 in all',
      '12 instalments, ₺1,587.30 in all',
    ]);
    await page.getByLabel('Instalments').selectOption('6');
    await seesCard('The total includes a fee of ₺37.00.');
    await page.evaluate(`(() => {
      for (const name of ['total', 'amount', 'fee', 'transactionDetails[amount]', 'chargedAmount']) {
        document.querySelector('[data-checkout]').insertAdjacentHTML(
          'beforeend', '<input type="hidden" name="' + name + '" value="1.00">');
      }
    })()`);
    await buyer.button('Pay ₺1,517.00').click();
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

  it('are not shown for an earlier number, and a gateway that is silent holds up nobody', async () => {
    await buyer.order('Coffee cup');
    const slow = shop.simulator.fail({ operation: 'CheckBin', kind: 'stall' });
    await typeNumber('46918107');
    await buyer.page.waitForRequest('**/card/choices');
    await typeNumber(DEBIT);
    await seesCard('Deneme Bankası · MASTERCARD · debit card. With this card you can pay in full');
    expect(await options()).toEqual(['Pay in full']);
    slow.release();
    shop.simulator.fail({ operation: 'CheckBin', kind: 'stall', times: 2 });
    await typeNumber('4111 1111 1111 1111');
    await seesCard('Your bank may add a fee for instalments');
    expect(await options()).toEqual(['Pay in full', ...[2, 3, 6, 9, 12].map((count) => `${count} instalments`)]);
  });

  it('cannot be asked for that the card does not have', async () => {
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
    expect(shop.simulator.ledger.charges).toEqual([]);
  });

  // How often a visitor may ask in an hour is in shop-attacks.spec.ts.
  it('of whole numbers, or of anything else, are not looked up; those of the same digits are once', async () => {
    const orderId = await shop.order();
    const ask = (bin: string) => shop.post(`/orders/${orderId}/card/choices`, { bin });
    for (const bin of [CREDIT, '450803450', '45080', '', '４５０８０３', '450803; drop']) {
      const answer = await ask(bin);
      expect([answer.status, (await answer.text()).includes('45080')]).toEqual([400, false]);
    }
    expect(shop.simulator.ledger.calls('CheckBin')).toBe(0);
    await Promise.all(Array.from({ length: 10 }, () => ask('45440011')));
    expect(shop.simulator.ledger.calls('CheckBin')).toBe(1);
  });
});

import type { Page } from 'playwright-core';
import { buyerPage, type PageName } from '../../lib/http/pages.js';
import { barriersOf } from './accessible-page.js';
import { type Buyer, DECLINED_CARD, useBuyer } from './buyer.js';
import { useShop } from './shop.js';

/** The pages that submit themselves or go on by themselves: the browser stays, since the answer has no content. */
async function stays(page: Page, addresses: string): Promise<void> {
  await page.route(addresses, (route) => route.fulfill({ status: 204 }));
}

/** How a buyer gets to each page. The desk's are in desk.spec.ts. */
const PAGES: Readonly<Record<string, (buyer: Buyer) => Promise<unknown>>> = {
  'the shop': () => Promise.resolve(),
  'an empty basket': ({ page, shop }) => page.goto(`${shop.url}/basket`),
  'a basket': (buyer) => buyer.button('Add to basket: Olive-branch vase').click(),
  'the card form': (buyer) => buyer.order('Coffee cup'),
  'the card form with errors': async (buyer) => {
    await buyer.order('Coffee cup');
    await buyer.typeIn({ number: '5246 7763 5690 3507', expiry: '01/20' });
    await buyer.submit();
    await buyer.page.getByRole('alert').waitFor();
  },
  'the card form with instalments': async (buyer) => {
    await buyer.order('Olive-branch vase');
    await buyer.fillIn('Direct');
    await buyer.page.getByLabel('Instalments').selectOption('6');
  },
  'the way to the bank': async (buyer) => {
    await buyer.order('Coffee cup');
    await buyer.fillIn('3D Secure');
    await stays(buyer.page, '**/acs/*');
    await buyer.submit();
    await buyer.page.getByText('You are being taken to').waitFor();
  },
  'the bank, after a wrong code': async (buyer) => {
    await buyer.order('Coffee cup');
    await buyer.pay('3D Secure');
    await buyer.confirm('999999');
    await buyer.page.getByText('Wrong code').waitFor();
  },
  'the way back from the bank': async (buyer) => {
    await buyer.order('Coffee cup');
    await buyer.pay('3D Secure');
    await stays(buyer.page, '**/payments/**');
    await buyer.confirm();
    await buyer.page.getByText('You are being taken back').waitFor();
  },
  'the bank, if it knows no such payment': ({ page, shop }) => page.goto(`${shop.simulator.url}/acs/gone?lang=en`),
  ...Object.fromEntries(
    [
      ['paid', 'Teapot'],
      ['pending', 'Unclear answer'],
      ['checking', 'Partial approval'],
      ['failed', 'Insufficient funds'],
    ].map(([outcome = '', product = '']) => [
      `an order: ${outcome}`,
      async (buyer: Buyer) => {
        await buyer.order(product);
        await buyer.pay('Direct');
        await buyer.sees(outcome);
      },
    ]),
  ),
  'the way to the payment page': async (buyer) => {
    await buyer.order('Coffee cup');
    await stays(buyer.page, '**/hosted/*');
    await buyer.button('Pay at the bank’s page').click();
    await buyer.page.getByRole('heading', { name: 'You are being taken to the payment page' }).waitFor();
  },
  'the payment page, with errors': async (buyer) => {
    await buyer.order('Coffee cup');
    await buyer.goToPaymentPage();
    await buyer.payAtPage('4000 0000 0000 0001');
    await buyer.page.getByRole('alert').waitFor();
  },
  'an order that was declined at the payment page': async (buyer) => {
    await buyer.order('Coffee cup');
    await buyer.goToPaymentPage();
    await buyer.payAtPage(DECLINED_CARD);
    await buyer.sees('declinedAtPage');
  },
  'a page that there is not': ({ page, shop }) => page.goto(`${shop.url}/nowhere`),
  'a callback with an unknown token': ({ page, shop }) => page.goto(`${shop.url}/payments/${'0'.repeat(32)}/return`),
  ...Object.fromEntries(
    (['success', 'failure', 'pending', 'reload'] satisfies PageName[]).map((kind) => [
      `the module’s own page: ${kind}`,
      async ({ page }: Buyer) => {
        await page.goto('about:blank');
        await page.setContent(buyerPage(kind, 'en', '/'));
      },
    ]),
  ),
};

describe('is for everyone', () => {
  const shop = useShop();
  const buyer = useBuyer(shop, /status of 4\d\d/);

  it.each(Object.keys(PAGES))('%s', async (name) => {
    await PAGES[name]!(buyer);
    expect(await barriersOf(buyer.page)).toEqual([]);
  });
});

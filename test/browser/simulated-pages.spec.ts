import type { BrowserContextOptions, FrameLocator, Page } from 'playwright-core';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../lib/simulator/index.js';
import { ReceivingShop } from '../simulator/receiving-shop.js';
import { type Asked, CARD, fieldsOf, SimulatedMerchant } from '../simulator/simulated-merchant.js';
import { useBrowser } from './shared-browser.js';

const NAME = '<b>Çiçek & Co</b>';

/**
 * What a buyer meets at the simulated bank and at the gateway's own page, besides what test/browser/shop.spec.ts and
 * test/browser/hosted.spec.ts show of them: cards that are declined, Cancel, another try.
 */
describe('the pages of the simulator', () => {
  const used = useBrowser();
  const shop = new ReceivingShop();
  let urls: { readonly returnUrl: string; readonly failUrl: string };
  let page: Page | undefined;
  let simulator: Simulator;
  let merchant: SimulatedMerchant;

  beforeAll(async () => {
    const shopUrl = await shop.start();
    urls = { returnUrl: `${shopUrl}/return`, failUrl: `${shopUrl}/fail` };
  });
  afterEach(async () => {
    expect(simulator.ledger.violations).toEqual([]);
    simulator.reset();
    shop.received.length = 0;
    await page?.context().close();
    page = undefined;
  });
  afterAll(() => {
    shop.close();
  });

  /** For the tests of this `describe`. */
  function useSimulator(options: SimulatorOptions): void {
    beforeAll(async () => {
      simulator = await startSimulator({ merchantName: NAME, ...options });
      merchant = new SimulatedMerchant(simulator);
    });
    afterAll(() => simulator.close());
  }

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    page = await (await used.browser.newContext(options)).newPage();
    page.setDefaultTimeout(10_000);
    return page;
  }

  describe('the bank', () => {
    useSimulator({ dialect: 'standard', slowMs: 400 });

    /** Shows the page of a 3D payment, which sends the buyer to the bank. */
    async function showBank(at: Page): Promise<void> {
      const { htmlForm } = await merchant.ask('Init3d', { amount: '1149.90', urls });
      await at.setContent(Buffer.from(htmlForm as string, 'base64').toString());
      await at.waitForURL('**/acs/**');
    }

    async function type(at: Page, code: string): Promise<void> {
      await at.getByLabel('SMS şifresi').fill(code);
      await at.getByRole('button', { name: 'Onayla' }).click();
    }

    it('shows the payment, refuses a wrong code, lets try again and brings the buyer back', async () => {
      const bank = await newPage();
      await showBank(bank);
      expect(await bank.locator('html').getAttribute('lang')).toBe('tr');
      const text = await bank.locator('main').innerText();
      for (const part of ['Simülatör', NAME, '₺1.149,90', '5246 77** **** 3508']) expect(text).toContain(part);
      await type(bank, '000000');
      expect(await bank.getByRole('alert').innerText()).toContain('2');
      await bank.getByRole('link', { name: 'EN' }).click();
      expect(await bank.locator('main').innerText()).toContain('₺1,149.90');
      await bank.getByLabel('SMS code').fill('123456');
      await bank.keyboard.press('Enter');
      await bank.waitForURL(urls.returnUrl);
      expect(shop.received).toMatchObject([{ path: '/return', type: 'application/x-www-form-urlencoded' }]);
      expect(await fieldsOf(merchant.auth3d(shop.received[0]!.fields))).toMatchObject({ code: 'B0000' });
    });

    it('gives up after three wrong codes, and can send the callback twice, late, or never', async () => {
      const bank = await newPage();
      await showBank(bank);
      for (const _try of [1, 2, 3]) await type(bank, '000000');
      await bank.waitForURL(urls.failUrl);
      expect(shop.received.splice(0)).toMatchObject([{ path: '/fail', fields: { Code: 'B0055' } }]);

      await showBank(bank);
      await type(bank, '222222');
      await bank.waitForURL(urls.returnUrl);
      const [first, second, ...more] = shop.received.splice(0);
      expect([first, more]).toEqual([second, []]);

      await showBank(bank);
      await bank.getByLabel('SMS şifresi').waitFor();
      const before = performance.now();
      await type(bank, '333333');
      await bank.waitForURL(urls.returnUrl);
      expect(performance.now() - before).toBeGreaterThan(399);
      expect(shop.received.splice(0)).toHaveLength(1);

      await showBank(bank);
      await type(bank, '666666');
      await bank.getByText('Bu sayfayı kapatabilirsiniz').waitFor();
      expect(shop.received).toEqual([]);
    });
  });

  describe("the gateway's own page", () => {
    useSimulator({ dialect: 'morpos' });

    /** @returns the address of a page of an order of 1149.90, unless told otherwise */
    async function open(asked: Asked = {}): Promise<string> {
      const { returnUrl } = await merchant.ask('hostedPage', { amount: '1149.90', urls, ...asked });
      return returnUrl as string;
    }

    /** Pays as a browser posts it, without one. */
    function post(url: string): Promise<Response> {
      return fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'pay', ...CARD }) });
    }

    async function type(place: Page | FrameLocator, cardNo: string, code = CARD.cvv): Promise<void> {
      await place.locator('#cardNo').fill(cardNo);
      await place.locator('#expDate').fill('12 / 2030');
      await place.locator('#cvv').fill(code);
    }

    it('shows what is paid, in Turkish and English, and nothing that was typed', async () => {
      const at = await newPage();
      await at.goto(await open());
      expect(await at.locator('html').getAttribute('lang')).toBe('tr');
      const text = await at.locator('main').innerText();
      for (const part of ['Simülatör', NAME, '₺1.149,90', '5246 7763 5690 3508']) expect(text).toContain(part);
      await type(at, '4000 0000 0000 0001', '999');
      await at.getByRole('button', { name: 'Öde' }).click();
      expect(await at.getByRole('alert').innerText()).toContain('Kart bilgilerini kontrol edin.');
      expect(await at.content()).not.toContain('0000000001');
      await at.getByRole('link', { name: 'EN' }).click();
      expect(await at.locator('main').innerText()).toContain('₺1,149.90');
      await type(at, CARD.cardNo);
      await at.getByLabel('Instalments').selectOption('3 instalments');
      await at.getByRole('button', { name: 'Pay' }).click();
      await at.waitForURL(urls.returnUrl);
      expect(shop.received).toMatchObject([
        { path: '/return', fields: { ResultCode: 'B0000', InstallmentCount: '3' } },
      ]);
      expect(simulator.ledger.charges).toMatchObject([{ installmentCount: 3 }]);
    });

    it('works without JavaScript, alone and in a frame', async () => {
      const at = await newPage({ javaScriptEnabled: false });
      await at.goto(await open({ installmentCount: 6 }));
      expect(await at.getByLabel('Taksit').count()).toBe(0);
      await type(at, CARD.cardNo);
      await at.getByRole('button', { name: 'Öde' }).click();
      await at.getByRole('button', { name: 'Devam et' }).click();
      await at.waitForURL(urls.returnUrl);
      expect(shop.received.splice(0)[0]?.fields.InstallmentCount).toBe('6');

      const answer = await merchant.ask('embeddedForm', { amount: '1149.90', urls, language: 'en' });
      shop.framed = answer.paymentFormContent as string;
      const checkout = urls.returnUrl.replace('return', 'checkout');
      await at.goto(checkout);
      const form = at.frameLocator('iframe');
      await form.getByRole('button', { name: 'Cancel' }).click();
      await form.getByRole('button', { name: 'Continue' }).click();
      await form.getByText('thanks').waitFor();
      expect(shop.received).toMatchObject([
        { path: '/fail', fields: { Code: 'R0099', Message: 'Customer cancellation' } },
      ]);
      expect(at.url()).toBe(checkout);
    });

    it('is gone once it was closed, and unknown addresses never were there', async () => {
      const closed = await open();
      simulator.closePage(closed);
      for (const [address, status] of [
        [closed, 410],
        [`${simulator.url}/hosted/x`, 404],
        [`${simulator.url}/v1/EmbeddedPayment/processPayment`, 404],
        [closed.replace('/hosted/', '/acs/'), 404],
      ] as const) {
        for (const answer of [await post(address), await fetch(address)]) {
          expect([address, answer.status]).toEqual([address, status]);
        }
      }
      expect(simulator.ledger.charges).toEqual([]);
    });

    it.each([
      ['10.62', 0],
      ['10.63', 1],
    ])('brings nobody back when the bank does not answer (%s)', async (amount, times) => {
      const address = await open({ amount, language: 'en' });
      const html = await (await post(address)).text();
      expect(html).toContain('The bank did not answer');
      expect(html).not.toContain('<form');
      expect(simulator.ledger.charges).toHaveLength(times);
    });
  });
});

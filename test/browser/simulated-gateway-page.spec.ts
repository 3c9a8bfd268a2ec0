import type { Browser, BrowserContextOptions, FrameLocator, Page } from 'playwright-core';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../lib/simulator/index.js';
import { useBrowser } from './shared-browser.js';
import { ReceivingShop } from '../simulator/receiving-shop.js';
import { type Asked, CARD, newConversationId, OTHER_CARD, SimulatedMerchant } from '../simulator/simulated-merchant.js';

const FORM = 'application/x-www-form-urlencoded';

let simulator: Simulator;
let merchant: SimulatedMerchant;
const shop = new ReceivingShop();
let shopUrl: string;
let browser: Browser;
let page: Page;

describe('simulated gateway page', () => {
  const used = useBrowser();
  beforeEach(() => {
    ({ browser } = used);
  });
  beforeAll(async () => {
    shopUrl = await shop.start();
  });
  afterEach(async () => {
    expect(simulator.ledger.violations).toEqual([]);
    shop.received.length = 0;
    await page.context().close();
    await simulator.close();
  });
  afterAll(() => {
    shop.close();
  });

  describe("the gateway's own page", () => {
    it('shows what is paid, in Turkish and English, and nothing that was typed', async () => {
      await start({ merchantName: '<b>Çiçek & Co</b>' });
      await page.goto(await open());
      expect(await page.locator('html').getAttribute('lang')).toBe('tr');
      const text = await page.locator('main').innerText();
      for (const part of ['Simülatör', '<b>Çiçek & Co</b>', '₺1.149,90', '5246 7763 5690 3508']) {
        expect(text).toContain(part);
      }
      await page.getByLabel('Kart numarası').fill('4000 0000 0000 0001');
      await page.getByLabel('Son kullanma').fill('12/30');
      await page.getByLabel('Güvenlik kodu').fill('999');
      await page.getByRole('button', { name: 'Öde' }).click();
      expect(await page.getByRole('alert').innerText()).toContain('Kart bilgilerini kontrol edin.');
      expect(await page.content()).not.toContain('0000000001');
      await page.getByRole('link', { name: 'EN' }).click();
      expect(await page.locator('main').innerText()).toContain('₺1,149.90');
      await page.getByLabel('Card number').fill(CARD.cardNo);
      await page.getByLabel('Expiry').fill('1230');
      await page.getByLabel('Security code').fill(CARD.cvv);
      await page.getByLabel('Instalments').selectOption('3 instalments');
      await page.getByRole('button', { name: 'Pay' }).click();
      await page.waitForURL(`${shopUrl}/return`);
      expect(shop.received).toMatchObject([
        { path: '/return', fields: { ResultCode: 'B0000', InstallmentCount: '3' } },
      ]);
      expect(simulator.ledger.charges).toMatchObject([{ installmentCount: 3 }]);
    });

    it('sends a declined buyer back, and can be paid when it is opened again', async () => {
      await start();
      const address = await open();
      await page.goto(address);
      await type(page, OTHER_CARD);
      await page.getByRole('button', { name: 'Öde' }).click();
      await page.waitForURL(`${shopUrl}/fail`);
      expect(shop.received).toEqual([
        { path: '/fail', type: FORM, fields: { Code: 'R0099', Message: 'Hatalı kart no' } },
      ]);
      await page.goto(address);
      await type(page);
      await page.getByRole('button', { name: 'Öde' }).click();
      await page.waitForURL(`${shopUrl}/return`);
      expect(simulator.ledger.charges).toHaveLength(1);
    });

    it('lets the buyer cancel, without a card', async () => {
      await start();
      await page.goto(await open());
      await page.getByRole('button', { name: 'İptal' }).click();
      await page.waitForURL(`${shopUrl}/fail`);
      expect(shop.received).toEqual([
        { path: '/fail', type: FORM, fields: { Code: 'R0099', Message: 'Müşteri iptali.' } },
      ]);
    });

    it('works without JavaScript', async () => {
      await start({}, { javaScriptEnabled: false });
      await page.goto(await open({ installmentCount: 6 }));
      expect(await page.getByLabel('Taksit').count()).toBe(0);
      await type(page);
      await page.getByRole('button', { name: 'Öde' }).click();
      await page.getByRole('button', { name: 'Devam et' }).click();
      await page.waitForURL(`${shopUrl}/return`);
      expect(shop.received[0]?.fields.InstallmentCount).toBe('6');
    });

    it.each([
      [{ cardNo: '4000000000000001' }, 'cardNo'],
      [{ cardNo: '' }, 'cardNo'],
      [{ expDate: '13/30' }, 'expDate'],
      [{ expDate: '2030-12' }, 'expDate'],
      [{ cvv: '12' }, 'cvv'],
      [{ installmentCount: '5' }, 'installmentCount'],
      [{ installmentCount: 'x' }, 'installmentCount'],
    ])('says what is wrong with %j', async (wrong, field) => {
      await start();
      const conversationId = newConversationId();
      const address = await open({ conversationId, language: 'en' });
      const html = await (await post(address, wrong)).text();
      expect(html.match(/id="\w+-error"/g)).toEqual([`id="${field}-error"`]);
      expect(html).toContain('Check the details of the card.');
      expect(simulator.ledger.decision(conversationId)).toBeUndefined();
      expect((await post(address)).status).toBe(200);
      expect(simulator.ledger.charges).toHaveLength(1);
    });

    it('is gone once it was closed, and unknown addresses never were there', async () => {
      await start();
      const closed = await open();
      simulator.closePage(closed);
      const unknown = [`${simulator.url}/hosted/x`, `${simulator.url}/v1/EmbeddedPayment/processPayment`];
      for (const address of [closed, ...unknown]) {
        const response = await post(address);
        expect(response.status).toBe(address === closed ? 410 : 404);
        expect(response.headers.get('cache-control')).toBe('no-store');
        expect(await response.text()).toContain('bulunamadı veya kapandı');
      }
      expect(simulator.ledger.charges).toEqual([]);
      expect(simulator.requests.filter(({ operation }) => operation !== 'hostedPage')).toEqual([]);
    });

    it.each([
      ['10.62', 0],
      ['10.63', 1],
    ])('brings nobody back when the bank does not answer (%s)', async (amount, times) => {
      await start();
      const address = await open({ amount, language: 'en' });
      const html = await (await post(address)).text();
      expect(html).toContain('The bank did not answer');
      expect(html).not.toContain('<form');
      expect(simulator.ledger.charges).toHaveLength(times);
      expect((await (await fetch(address)).text()).includes('did not answer')).toBe(times === 1);
    });
  });

  describe('the embedded form', () => {
    async function embed(asked: Asked = {}): Promise<FrameLocator> {
      const urls = { returnUrl: `${shopUrl}/return`, failUrl: `${shopUrl}/fail` };
      const answer = await merchant.ask('embeddedForm', { amount: '1149.90', urls, ...asked });
      shop.framed = answer.paymentFormContent as string;
      await page.goto(`${shopUrl}/checkout`);
      return page.frameLocator('iframe');
    }

    it('pays in its frame, and its callback lands there', async () => {
      await start();
      const form = await embed();
      await type(form, '5246776356903508');
      await form.getByRole('button', { name: 'Öde' }).click();
      await form.getByText('thanks').waitFor();
      expect(page.url()).toBe(`${shopUrl}/checkout`);
      expect(shop.received).toMatchObject([{ path: '/return', fields: { ResultCode: 'B0000' } }]);
      expect(simulator.ledger.charges).toHaveLength(1);
    });

    it('works without JavaScript', async () => {
      await start({}, { javaScriptEnabled: false });
      const form = await embed({ language: 'en' });
      await form.getByRole('button', { name: 'Cancel' }).click();
      await form.getByRole('button', { name: 'Continue' }).click();
      await form.getByText('thanks').waitFor();
      expect(shop.received).toMatchObject([
        { path: '/fail', fields: { Code: 'R0099', Message: 'Customer cancellation' } },
      ]);
    });
  });
});

async function start(options: SimulatorOptions = {}, context: BrowserContextOptions = {}): Promise<void> {
  simulator = await startSimulator({ dialect: 'morpos', ...options });
  merchant = new SimulatedMerchant(simulator);
  page = await (await browser.newContext(context)).newPage();
  page.setDefaultTimeout(10_000);
}

/** @returns the address of a page of an order of 1149.90, unless told otherwise */
async function open(asked: Asked = {}): Promise<string> {
  const urls = { returnUrl: `${shopUrl}/return`, failUrl: `${shopUrl}/fail` };
  const { returnUrl } = await merchant.ask('hostedPage', { amount: '1149.90', urls, ...asked });
  return returnUrl as string;
}

async function type(place: Page | FrameLocator, cardNo = CARD.cardNo): Promise<void> {
  await place.locator('#cardNo').fill(cardNo);
  await place.locator('#expDate').fill('12 / 2030');
  await place.locator('#cvv').fill(CARD.cvv);
}

/** Pays as a browser posts it, without one. */
function post(url: string, fields: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams({ action: 'pay', ...CARD, ...fields });
  return fetch(url, { method: 'POST', body });
}

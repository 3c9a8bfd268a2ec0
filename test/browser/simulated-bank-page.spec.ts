import type { Page } from 'playwright-core';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../lib/simulator/index.js';
import { ReceivingShop } from '../simulator/receiving-shop.js';
import { fieldsOf, SimulatedMerchant } from '../simulator/simulated-merchant.js';
import { useBrowser } from './shared-browser.js';

describe('the bank, in a browser', () => {
  const used = useBrowser();
  const shop = new ReceivingShop();
  let shopUrl: string;
  let page: Page;
  let simulator: Simulator;
  let merchant: SimulatedMerchant;

  beforeAll(async () => {
    shopUrl = await shop.start();
  });
  afterEach(async () => {
    shop.received.length = 0;
    await page.context().close();
    await simulator.close();
  });
  afterAll(() => {
    shop.close();
  });

  async function start(options: SimulatorOptions = {}, javaScriptEnabled = true): Promise<void> {
    simulator = await startSimulator(options);
    merchant = new SimulatedMerchant(simulator);
    page = await (await used.browser.newContext({ javaScriptEnabled })).newPage();
    page.setDefaultTimeout(10_000);
  }

  /** Shows the page of a 3D payment, which sends the buyer to the bank. */
  async function showPage(): Promise<void> {
    const urls = { returnUrl: `${shopUrl}/return`, failUrl: `${shopUrl}/fail` };
    const { htmlForm } = await merchant.ask('Init3d', { amount: '1149.90', urls });
    await page.setContent(Buffer.from(htmlForm as string, 'base64').toString());
  }

  async function type(code: string): Promise<void> {
    await page.getByLabel('SMS şifresi').fill(code);
    await page.getByRole('button', { name: 'Onayla' }).click();
  }

  it('shows the payment, refuses a wrong code, lets try again and brings the buyer back', async () => {
    await start({ merchantName: '<b>Çiçek & Co</b>' });
    await showPage();
    await page.waitForURL('**/acs/**');
    expect(await page.locator('html').getAttribute('lang')).toBe('tr');
    const text = await page.locator('main').innerText();
    for (const part of ['Simülatör', '<b>Çiçek & Co</b>', '₺1.149,90', '5246 77** **** 3508', '123456']) {
      expect(text).toContain(part);
    }
    await type('000000');
    expect(await page.getByRole('alert').innerText()).toContain('2');
    await page.getByRole('link', { name: 'EN' }).click();
    expect(await page.locator('main').innerText()).toContain('₺1,149.90');
    await page.getByLabel('SMS code').fill('123456');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${shopUrl}/return`);
    expect(shop.received).toMatchObject([{ path: '/return', type: 'application/x-www-form-urlencoded' }]);
    expect(await fieldsOf(merchant.auth3d(shop.received[0]!.fields))).toMatchObject({ code: 'B0000' });
  });

  it.each<[string, string, () => Promise<void>]>([
    [
      'gives up after three wrong codes',
      'B0055',
      async () => {
        for (const _try of [1, 2, 3]) await type('000000');
      },
    ],
    ['lets the buyer cancel', 'B0017', () => page.getByRole('button', { name: 'İptal' }).click()],
  ])('%s', async (_what, code, act) => {
    await start();
    await showPage();
    await act();
    await page.waitForURL(`${shopUrl}/fail`);
    expect(shop.received).toMatchObject([{ path: '/fail', fields: { Code: code } }]);
  });

  it('works without JavaScript', async () => {
    await start({}, false);
    await showPage();
    await page.getByRole('button', { name: 'Devam et' }).click();
    await type('123456');
    await page.getByRole('button', { name: 'Devam et' }).click();
    await page.waitForURL(`${shopUrl}/return`);
    expect(shop.received).toMatchObject([{ fields: { Code: 'B0000' } }]);
  });

  it('can send the callback twice, late, or never', async () => {
    await start({ slowMs: 50 });
    await showPage();
    await type('222222');
    await page.waitForURL(`${shopUrl}/return`);
    expect(shop.received).toHaveLength(2);
    expect(shop.received[0]).toEqual(shop.received[1]);

    await showPage();
    await page.getByLabel('SMS şifresi').waitFor();
    const before = performance.now();
    await type('333333');
    await page.waitForURL(`${shopUrl}/return`);
    expect(performance.now() - before).toBeGreaterThan(49);
    expect(shop.received).toHaveLength(3);

    await showPage();
    await type('666666');
    await page.getByText('Bu sayfayı kapatabilirsiniz').waitFor();
    expect(shop.received).toHaveLength(3);
  });

  it('knows no session that was not opened', async () => {
    await start();
    const response = await page.goto(`${simulator.url}/acs/00000000-0000-0000-0000-000000000000?lang=en`);
    expect(response?.status()).toBe(404);
    expect(await page.locator('main').innerText()).toContain('There is no such verification');
  });
});

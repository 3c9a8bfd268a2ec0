import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser, type Page } from 'playwright-core';
import { REFUSAL_CODES, startSimulator, type Simulator, type SimulatorOptions } from '../../lib/simulator/index.js';
import { fieldsIn } from '../rigs/bank-ways.js';
import { fieldsOf, newConversationId, SimulatedMerchant } from './simulated-merchant.js';

/** A shop that keeps what the bank sends to it. */
class Shop {
  readonly received: { method: string; url: string; contentType: string; body: string }[] = [];
  readonly server = createServer((request, response) => {
    void this.keep(request).then(() => {
      response.end('<h1>thanks</h1>');
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async keep(request: IncomingMessage): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '' } = request;
    if (url !== '/favicon.ico') {
      this.received.push({ method, url, contentType: request.headers['content-type'] ?? '', body });
    }
  }
}

let simulator: Simulator;
let merchant: SimulatedMerchant;
const shop = new Shop();
let shopUrl: string;

describe('bank', () => {
  beforeAll(async () => {
    shopUrl = await shop.start();
  });
  afterEach(async () => {
    shop.received.length = 0;
    await simulator.close();
  });
  afterAll(() => void shop.server.close());

  describe('the bank, without a browser', () => {
    it('sends the documented fields', async () => {
      await start();
      const conversationId = newConversationId();
      await init3d(conversationId);
      const { url, fields, copies, request } = simulator.bank.answer(conversationId, { code: '123456' });
      expect([url, copies]).toEqual([`${shopUrl}/return`, 1]);
      expect(fields).toEqual({
        Code: 'B0000',
        Message: 'Onaylandı',
        EftCode: '00',
        MdStatus: expect.stringMatching(/^[A-Za-z0-9+/]{32}$/) as string,
        MdStatusMessage: '',
        conversationId,
        OrderId: 'ORD000000001',
        PaymentId: '7000000001',
        TransactionDate: expect.stringMatching(/^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d$/) as string,
        Currency: '949',
        PaymentInstrumentType: 'CARDPAYMENT',
        MerchantId: '100200300',
        'InstrumentDetail.MaskedCardNumber': '524677******3508',
        'InstrumentDetail.CardType': 'CARD',
      });
      expect(request).toMatchObject({ url, method: 'POST', body: new URLSearchParams(fields).toString() });
    });

    it('decides once: later answers get the same callback', async () => {
      await start();
      const page = await init3d();
      const first = simulator.bank.answer(page, { code: 'cancel' });
      expect(simulator.approve(page)).toBe(first);
      expect(first.fields.Code).toBe('B0017');
      expect(() => simulator.approve('nobody')).toThrow('no such payment');
    });

    it.each([
      ['123456', 'return', 'B0000', 1],
      ['222222', 'return', 'B0000', 2],
      ['444444', 'fail', 'B0000', 1],
      ['555555', 'return', 'B0055', 1],
      ['666666', 'return', 'B0000', 0],
      ['cancel', 'fail', 'B0017', 1],
      ['wrong', 'fail', 'B0055', 1],
    ])('answers %s at the %s URL with %s, and Auth3d says the same', async (code, path, result, copies) => {
      await start({ dialect: 'morpos' });
      const callback = simulator.bank.answer(await init3d(), { code });
      expect([callback.url, callback.copies]).toEqual([`${shopUrl}/${path}`, copies]);
      expect(callback.fields.Code).toBe(result);
      expect(await fieldsOf(merchant.auth3d(callback.fields))).toMatchObject({ code: result, resultCode: result });
      expect(simulator.ledger.charges).toHaveLength(result === 'B0000' ? 1 : 0);
    });

    it.each(['dotted', 'bracket', 'json'] as const)('takes InstrumentDetail back %s, or nested', async (notation) => {
      await start();
      expect((await merchant.auth3d(fieldsIn(simulator.approve(await init3d()), notation))).status).toBe(200);

      const next = simulator.approve(await init3d()).fields;
      const others = Object.entries(next).filter(([field]) => !field.startsWith('InstrumentDetail'));
      const InstrumentDetail = { CardType: 'CARD', MaskedCardNumber: '524677******3508' };
      expect((await merchant.auth3d({ ...Object.fromEntries(others), InstrumentDetail })).status).toBe(200);
    });

    it('refuses an Auth3d that does not bring back what the bank sent', async () => {
      await start();
      const waiting = newConversationId();
      await init3d(waiting);
      const mine = simulator.bank.answer(await init3d(), { code: 'cancel' }).fields;
      const other = simulator.approve(await init3d()).fields;
      const { MdStatus: _left, ...without } = mine;
      const forged = [
        { ...mine, Code: 'B0000' },
        { ...mine, Extra: '1' },
        { ...mine, 'InstrumentDetail.CardType': 'X' },
        without,
        { ...other, conversationId: mine.conversationId },
        { ...other, conversationId: waiting },
        { ...other, conversationId: 'nobody' },
        { ...other, EftCode: 0 },
        {},
      ];
      for (const fields of forged) {
        expect((await fieldsOf(merchant.auth3d(fields))).Code).toBe(REFUSAL_CODES.callback);
      }
      expect(simulator.ledger.charges).toEqual([]);
    });
  });

  describe('the bank, in a browser', () => {
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'];
      const quiet = ['--disable-background-networking', '--disable-component-update'];
      browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: [...args, ...quiet] });
    });
    beforeEach(async () => {
      page = await browser.newPage();
      page.setDefaultTimeout(10_000);
    });
    afterEach(() => page.close());
    afterAll(() => browser.close());

    async function enter(base64: string): Promise<void> {
      await page.setContent(Buffer.from(base64, 'base64').toString());
      await page.waitForURL('**/acs/**');
    }

    it('shows the payment, refuses a wrong code, lets try again and brings the buyer back', async () => {
      await start({ merchantName: '<b>Çiçek & Co</b>' });
      await enter(await init3d());
      expect(await page.locator('html').getAttribute('lang')).toBe('tr');
      const text = await page.locator('main').innerText();
      for (const part of ['Simülatör', '<b>Çiçek & Co</b>', '₺1.149,90', '5246 77** **** 3508', '123456']) {
        expect(text).toContain(part);
      }
      await page.getByLabel('SMS şifresi').fill('000000');
      await page.getByRole('button', { name: 'Onayla' }).click();
      expect(await page.getByRole('alert').innerText()).toContain('2');
      await page.getByRole('link', { name: 'EN' }).click();
      expect(await page.locator('main').innerText()).toContain('₺1,149.90');
      await page.getByLabel('SMS code').fill('123456');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${shopUrl}/return`);
      expect(shop.received).toMatchObject([{ method: 'POST', contentType: 'application/x-www-form-urlencoded' }]);
      const fields = Object.fromEntries(new URLSearchParams(shop.received[0]?.body));
      expect(await fieldsOf(merchant.auth3d(fields))).toMatchObject({ code: 'B0000' });
    });

    it('gives up after three wrong codes', async () => {
      await start();
      await enter(await init3d());
      for (const _try of [1, 2, 3]) {
        await page.getByLabel('SMS şifresi').fill('000000');
        await page.getByRole('button', { name: 'Onayla' }).click();
      }
      await page.waitForURL(`${shopUrl}/fail`);
      expect(new URLSearchParams(shop.received[0]?.body).get('Code')).toBe('B0055');
    });

    it('lets the buyer cancel', async () => {
      await start();
      await enter(await init3d());
      await page.getByRole('button', { name: 'İptal' }).click();
      await page.waitForURL(`${shopUrl}/fail`);
      expect(new URLSearchParams(shop.received[0]?.body).get('Code')).toBe('B0017');
    });

    it('works without JavaScript', async () => {
      await start();
      const context = await browser.newContext({ javaScriptEnabled: false });
      const plain = await context.newPage();
      await plain.setContent(Buffer.from(await init3d(), 'base64').toString());
      await plain.getByRole('button', { name: 'Devam et' }).click();
      await plain.getByLabel('SMS şifresi').fill('123456');
      await plain.getByRole('button', { name: 'Onayla' }).click();
      await plain.getByRole('button', { name: 'Devam et' }).click();
      await plain.waitForURL(`${shopUrl}/return`);
      await context.close();
    });

    async function answer(code: string): Promise<void> {
      await enter(await init3d());
      await page.getByLabel('SMS şifresi').fill(code);
      await page.getByRole('button', { name: 'Onayla' }).click();
    }

    it('can send the callback twice, late, or never', async () => {
      await start({ slowMs: 50 });
      await answer('222222');
      await page.waitForURL(`${shopUrl}/return`);
      expect(shop.received).toHaveLength(2);
      expect(shop.received[0]?.body).toBe(shop.received[1]?.body);

      await answer('333333');
      await page.waitForURL(`${shopUrl}/return`);
      expect(shop.received).toHaveLength(3);

      await answer('666666');
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
});

async function start(options: SimulatorOptions = {}): Promise<void> {
  simulator = await startSimulator(options);
  merchant = new SimulatedMerchant(simulator);
}

/** Starts a 3D payment. @returns its Base64 page */
async function init3d(conversationId = newConversationId()): Promise<string> {
  const urls = { returnUrl: `${shopUrl}/return`, failUrl: `${shopUrl}/fail` };
  const { htmlForm } = await fieldsOf(merchant.init3d({ conversationId, amount: '1149.90', urls }));
  return htmlForm as string;
}

import type { BrowserContextOptions, Page } from 'playwright-core';
import { useDesk } from '../desk/desk-shop.js';
import { sale } from '../rigs/sale.js';
import { barriersOf } from './accessible-page.js';
import { inWhole, sample } from '../rigs/extent.js';
import { until } from '../services/until.js';
import { goBack, noteComplaints, PLAIN_HOST } from './browser.js';
import { useBrowser } from './shared-browser.js';

/** As with helmet's defaults, but for what needs TLS. */
const HELMET =
  "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';frame-ancestors 'self';" +
  "img-src 'self' data:;object-src 'none';script-src 'self';script-src-attr 'none';style-src 'self' https: 'unsafe-inline'";

describe('the desk in a browser', () => {
  const used = useBrowser();
  const shop = useDesk('express', {
    configure: (app) =>
      app.use((_request: unknown, response: { header(name: string, value: string): void }, next: () => void) => {
        response.header('Content-Security-Policy', HELMET);
        next();
      }),
  });
  let complaints: string[];
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    const pay = async (amount?: string) => (await shop.payments.doPayment(sale(amount))).conversationId;
    for (const amount of ['1149.90', '89.00', '420.00', '1480.00', '310.50']) await pay(amount);
    ids['declined'] = await pay('40.51');
    ids['refunded'] = await pay('420.00');
    await shop.operations.refund({
      conversationId: ids['refunded'],
      amount: '20.50',
      note: 'A chip in the glaze',
      by: 'Ada',
    });
    shop.simulator.fail({ operation: 'refund', kind: 'close', at: 'after' });
    await shop.operations.refund({ conversationId: ids['refunded'], amount: '10', by: 'Bora' });
    ids['review'] = await pay('40.31');
    const { reference, transactionDetails } = sale();
    const open = await shop.payments.startHosted({ reference, transactionDetails });
    ids['open'] = open.payment.conversationId;
  }, 60_000);
  beforeEach(() => {
    complaints = [];
  });
  afterEach(async () => {
    for (const context of used.browser.contexts()) await context.close();
  });

  async function visit(options: BrowserContextOptions, path = '', base = shop.url): Promise<Page> {
    const context = await used.browser.newContext({ locale: 'en-GB', ...options });
    noteComplaints(context, complaints, /status of 404/);
    const page = await context.newPage();
    await page.goto(`${base}/desk${path}`);
    return page;
  }
  const lose = async () => {
    shop.simulator.fail({ operation: 'DoPayment', kind: 'close', at: 'after' });
    return (await shop.payments.doPayment(sale('12500.00'))).conversationId;
  };

  it.each(inWhole(['en-GB', 'tr-TR'], ['en-GB']))('every page is for everyone: %s', async (locale) => {
    ids['unknown'] = await lose();
    const page = await visit({ locale });
    const payments = Object.values(ids).map((id) => `/payments/${id}`);
    const paths = sample(3, ['', '/deliveries', '/payments/nobody', '/payments', ...payments]);
    for (const path of paths) {
      await page.goto(`${shop.url}/desk${path}`);
      await page
        .locator('details')
        .evaluateAll((all: { open: boolean }[]) => all.forEach((each) => (each.open = true)));
      expect([path, await barriersOf(page)]).toEqual([path, []]);
    }
    await page.goto(`${shop.url}/desk/payments/${ids['unknown']}`);
    await page.locator('summary').first().click();
    await page.locator('[name=note]').fill('as the panel says');
    await page.locator('button[name=state]').first().click();
    expect(await barriersOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('a payment is settled by keyboard, a refund is clicked twice, and Back gives nothing back again', async () => {
    const id = await lose();
    const page = await visit({ javaScriptEnabled: false });
    await page.getByRole('link', { name: '12,500.00 TRY' }).first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/payments/);
    await page.getByRole('button', { name: 'Ask the gateway' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1 [data-state="succeeded"]').waitFor();
    expect(await page.getByRole('status').innerText()).toBe('Ask the gateway: Paid.');

    await page.locator('summary').first().click();
    await page.getByLabel('Amount, at most').first().fill('20,50');
    await page.getByRole('button', { name: 'Give this amount back…' }).click();
    await page.getByRole('button', { name: 'Yes: Refund: 20.50 TRY' }).dblclick();
    await page.waitForURL(/done=refund/);
    // The second click is answered at once, the refund of the first may still be on its way.
    await until(async () => (await shop.payments.refunds(id)).every(({ settled }) => settled));
    await page.reload();
    await page.getByText('Refund: Given back.').waitFor();
    const again = page.waitForRequest((request) => request.method() === 'POST');
    await Promise.all([again, goBack(page)]);
    await page.getByText('Refund: Given back.').waitFor();
    expect((await shop.payments.refunds(id)).map(({ amount }) => amount)).toEqual(['20.50']);
  });

  // Such a browser says only where a form was. What comes from elsewhere is in test/desk/expected/access.txt.
  it('a site without TLS can be used', async () => {
    const plain = shop.url.replace('127.0.0.1', PLAIN_HOST);
    const page = await visit({}, `/payments/${await lose()}`, plain);
    await page.getByRole('button', { name: 'Ask the gateway' }).click();
    await page.locator('h1 [data-state="succeeded"]').waitFor();
  });
});

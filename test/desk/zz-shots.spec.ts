import { startSimulator } from 'nestjs-card-payment/simulator';
import { launchBrowser } from '../browser/browser.js';
import { sale } from '../e2e/merchant.js';
import { StaffAccess, startDesk, DeskPage } from './desk-shop.js';

it('shots', async () => {
  const simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
  const shop = await startDesk('express', simulator);
  StaffAccess.reset();
  const pay = async (a?: string) => (await shop.payments.doPayment(sale(a))).conversationId;
  for (let i = 0; i < 14; i++) await pay(`${1000 + i * 137}.${i % 2 ? '50' : '90'}`);
  const declined = await pay('40.51');
  simulator.fail({ operation: 'DoPayment', kind: 'close', at: 'after' });
  const unknown = await pay('12500.00');
  const review = await pay('40.31');
  const refunded = await pay('420.00');
  await shop.operations.refund({ conversationId: refunded, amount: '20.50', note: 'A chip in the glaze, agreed on the phone', by: 'Ada' });
  simulator.fail({ operation: 'refund', kind: 'close', at: 'after' });
  await shop.operations.refund({ conversationId: refunded, amount: '10', by: 'Bora' });
  const { reference, transactionDetails } = sale();
  await shop.payments.startHosted({ reference, transactionDetails });
  const browser = await launchBrowser();
  const base = `${shop.url}/desk`;
  const pages: Record<string, string> = { overview: '', list: '/payments', unknown: `/payments/${unknown}`, declined: `/payments/${declined}`, review: `/payments/${review}`, refunded: `/payments/${refunded}`, deliveries: '/deliveries' };
  for (const [look, width, colorScheme, locale] of [['desk-light-en', 1200, 'light', 'en-GB'], ['phone-dark-tr', 375, 'dark', 'tr-TR'], ['phone-light-en', 375, 'light', 'en-GB'], ['desk-dark-tr', 1200, 'dark', 'tr-TR']] as const) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, locale });
    const page = await context.newPage();
    page.on('console', (m) => console.log(look, m.text()));
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(base + path);
      if (name === 'unknown') await page.locator('summary').first().click();
      await page.screenshot({ path: `/tmp/shots/${name}-${look}.png`, fullPage: true });
    }
    if (look.startsWith('phone-light') || look.startsWith('desk-light')) {
      await page.goto(`${base}/payments/${unknown}`);
      await page.locator('summary').first().click();
      await page.getByLabel('How was it found out?').fill('Seen in the panel');
      await page.getByRole('button', { name: 'Money was taken…', exact: true }).click();
      await page.screenshot({ path: `/tmp/shots/confirm-${look}.png`, fullPage: true });
    }
    await context.close();
  }
  await browser.close(); await shop.app.close(); await simulator.close();
  void DeskPage;
}, 120_000);

import { type Browser, type BrowserContext, chromium, type Frame, type Page } from 'playwright-core';
import { TEST_CARDS } from 'nestjs-card-payment/simulator';
import { findChromium } from '../services/chromium.js';

/** A site without TLS that is not this machine, of which the browser says less. */
export const PLAIN_HOST = 'desk.example';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Contexts share a process, whose start takes longer than most pages; pages of other sites still have their own.
  '--renderer-process-limit=1',
  `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
];

/** The system's Chromium, headless. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: FLAGS });
}

/** Notes what pages complain about: scripts that throw, content that a policy blocks, files that are missing. */
export function noteComplaints(context: BrowserContext, complaints: string[], expected: RegExp): void {
  context.on('page', (page) => {
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      const isExpected = expected.test(message.text()) || message.location().url.endsWith('/favicon.ico');
      if (message.type() === 'error' && !isExpected) complaints.push(message.text());
    });
  });
}

/** Types a card at the gateway's own page, in English, and pays. */
export async function payAtPage(place: Page | Frame, cardNumber?: string): Promise<void> {
  const { cardNo, expDate, cvv } = TEST_CARDS[0]!;
  await place.getByLabel('Card number').fill(cardNumber ?? cardNo);
  await place.getByLabel('Expiry').fill(`${expDate.slice(0, 2)}/${expDate.slice(2)}`);
  await place.getByLabel('Security code').fill(cvv);
  await place.getByRole('button', { name: 'Pay', exact: true }).click();
}

/** Goes back; if the browser asks whether to send the form again, agrees. */
export async function goBack(page: Page): Promise<void> {
  const isForm = await page.goBack().then(
    () => false,
    (error: Error) => error.message.includes('ERR_CACHE_MISS'),
  );
  if (!isForm) return;
  await page.waitForURL('chrome-error://**');
  await page.reload();
}

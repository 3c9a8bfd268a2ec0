import { SMS_CODE } from 'nestjs-card-payment/simulator';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { goBack, noteComplaints, payAtPage } from './browser.js';
import { useBrowser } from './shared-browser.js';
import { CARD_FORM, type Shop } from './shop.js';

export type Method = '3D Secure' | 'Direct';

/** A published test card, which the card form's button fills in. */
export const TEST_CARD = '5246 7763 5690 3508';
/** No test card, so the payment page declines it. */
export const DECLINED_CARD = '4111 1111 1111 1111';

/**
 * A buyer who enters the shop before each test of this `describe`. After it, nothing is left open, and neither has the
 * browser complained, but for what is expected, nor the gateway.
 */
export function useBuyer(shop: Shop, expected = /status of 422/): Buyer {
  const used = useBrowser();
  const buyer = new Buyer(used, shop, expected);
  beforeEach(async () => {
    shop.simulator.reset();
    await buyer.enter();
  });
  afterEach(async () => {
    for (const context of used.browser.contexts()) await context.close();
    expect(buyer.complaints.splice(0)).toEqual([]);
    expect(shop.simulator.ledger.violations).toEqual([]);
  });
  return buyer;
}

/** A buyer who reads English, in a separate browser session. */
export class Buyer {
  page!: Page;
  /** What the browser sent to the shop since it was entered. */
  readonly requests: Request[] = [];
  /** What the browser complained about. */
  readonly complaints: string[] = [];

  constructor(
    private readonly used: { readonly browser: Browser },
    readonly shop: Shop,
    private readonly expected: RegExp,
  ) {}

  /** Opens the shop in a new session, in place of the one before. */
  async enter(options: BrowserContextOptions = {}): Promise<this> {
    await this.page?.context().close();
    const context = await this.used.browser.newContext({ locale: 'en-GB', ...options });
    context.setDefaultTimeout(15_000);
    noteComplaints(context, this.complaints, this.expected);
    this.requests.length = 0;
    context.on('request', (request) => {
      if (request.url().startsWith(this.shop.url)) this.requests.push(request);
    });
    this.page = await context.newPage();
    await this.page.goto(this.shop.url);
    return this;
  }

  /** The same buyer in another tab of the browser. */
  async inTab(address = this.page.url()): Promise<Buyer> {
    const page = await this.page.context().newPage();
    await page.goto(address);
    return Object.assign(Object.create(this) as Buyer, { page });
  }

  /** From the shop's front page to the checkout form. @returns the order's number */
  async order(...products: string[]): Promise<string> {
    for (const product of products) {
      if (new URL(this.page.url()).href !== new URL(this.shop.url).href) await this.page.goto(this.shop.url);
      await this.button(`Add to basket: ${product}`).click();
    }
    await this.button('Go to payment').click();
    await this.page.getByLabel('Card number').waitFor();
    return this.orderId();
  }

  orderId(): string {
    return new URL(this.page.url()).pathname.split('/')[2] ?? '';
  }

  button(name: string | RegExp) {
    return this.page.getByRole('button', { name });
  }

  async fillIn(method: Method): Promise<void> {
    await this.button(/^5246 7763 5690 3508 .*Fill in this test card$/).click();
    await this.page.getByRole('radio', { name: method }).check();
  }

  /** Types what the card form asks for, as in a browser without scripts and in a shop without test cards. */
  async typeIn(changed: Partial<typeof CARD_FORM> = {}): Promise<void> {
    const { phone, holder, number, expiry, cvv } = { ...CARD_FORM, ...changed };
    await this.page.getByLabel('Mobile phone').fill(phone);
    await this.page.getByLabel('Name on the card').fill(holder);
    await this.page.getByLabel('Card number').fill(number);
    await this.page.getByLabel('Expiry').fill(expiry);
    await this.page.getByLabel('Security code').fill(cvv);
  }

  async submit(): Promise<void> {
    await this.button(/^Pay ₺/).click();
  }

  async pay(method: Method): Promise<void> {
    await this.fillIn(method);
    await this.submit();
    if (method === '3D Secure') await this.page.getByLabel('SMS code').waitFor();
  }

  /** Types the code on the bank's page. */
  async confirm(code = SMS_CODE): Promise<void> {
    await this.page.getByLabel('SMS code').fill(code);
    await this.button('Confirm').click();
  }

  /** Types the code on the bank's page in Turkish, the only language of a real gateway that is documented. */
  async confirmInTurkish(): Promise<void> {
    await this.page.getByLabel('SMS şifresi').fill(SMS_CODE);
    await this.button('Onayla').click();
  }

  /** Chooses the gateway's own payment page, and waits until it is shown. */
  async goToPaymentPage(): Promise<void> {
    await this.button('Pay at the bank’s page').click();
    await this.seesPaymentPage();
  }

  async seesPaymentPage(): Promise<void> {
    await this.page.waitForURL(`${this.shop.simulator.publicUrl}/hosted/**`);
  }

  payAtPage(cardNumber = TEST_CARD): Promise<void> {
    return payAtPage(this.page, cardNumber);
  }

  goBack(): Promise<void> {
    return goBack(this.page);
  }

  /** Waits until the order's page shows this outcome. */
  async sees(outcome: string): Promise<void> {
    await this.page.locator(`[data-outcome="${outcome}"]`).waitFor();
  }

  text(): Promise<string> {
    return this.page.locator('main').innerText();
  }
}

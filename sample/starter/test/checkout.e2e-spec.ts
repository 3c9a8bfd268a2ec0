import './payment-settings.js';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { PaymentSimulator } from 'nestjs-card-payment';
import { AppModule } from '../src/app.module.js';
import { CHECKOUT } from '../src/checkout/pages.js';
import { TEXTS } from '../src/checkout/texts.js';

describe('checkout', () => {
  let app: INestApplication;
  let simulator: PaymentSimulator;
  let order: string;

  beforeAll(async () => {
    const module = await Test.createTestingModule({
      imports: [AppModule],
    }).compile();
    app = module.createNestApplication();
    await app.listen(0, '127.0.0.1');
    simulator = app.get(PaymentSimulator);
  });
  afterAll(() => app.close());

  beforeEach(async () => {
    const form = await fetch(`${await app.getUrl()}${CHECKOUT}`, {
      method: 'POST',
    });
    order = form.url.replace(/\/pay$/, '');
  });

  /** What a browser sends. */
  function submit(
    url: string,
    fields: Record<string, string>,
  ): Promise<Response> {
    const headers = { accept: 'text/html' };
    return fetch(url, {
      method: 'POST',
      headers,
      body: new URLSearchParams(fields),
    });
  }

  function pay(cardNo = '4508034508034509'): Promise<Response> {
    return submit(`${order}/pay`, {
      'cardDetails.cardNo': cardNo,
      'cardDetails.expDate': '12/36',
      'cardDetails.cvv': '000',
      'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
      'cardHolderInfo.buyerGsm': '905551112233',
    });
  }

  it('is paid, once', async () => {
    const bankPage = await pay();
    expect(bankPage.status).toBe(200);
    const { url, fields } = simulator.approve(await bankPage.text());
    const orderPage = await submit(url, fields);
    expect(orderPage.url).toContain(new URL(order).pathname);
    expect(await orderPage.text()).toContain(TEXTS.states.paid);
    await submit(url, fields); // the buyer goes back and forth
    expect((await pay()).status).toBe(409);
    expect(simulator.ledger.total()).toBe('149.90');
    expect(simulator.ledger.violations).toEqual([]);
  });

  it('shows the form again, without the card, when its number is mistyped', async () => {
    const form = await pay('4508034508034508');
    expect(form.status).toBe(400);
    const html = await form.text();
    expect(html).toContain(TEXTS.fields['cardDetails.cardNo']);
    expect(html).toContain('value="Ada Yılmaz"');
    expect(html).not.toContain('4508');
  });

  it('is not paid, when the buyer cancels', async () => {
    const bankPage = await (await pay()).text();
    const { url, fields } = simulator.answer(bankPage, { code: 'cancel' });
    const orderPage = await submit(url, fields);
    expect(await orderPage.text()).toContain(TEXTS.states['not paid']);
  });
});

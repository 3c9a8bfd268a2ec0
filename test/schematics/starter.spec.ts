import '../../sample/starter/test/payment-settings.js';
import '../../sample/starter/src/checkout/order.service.spec.js';
import '../../sample/starter/test/checkout.e2e-spec.js';
import { createHash } from 'node:crypto';
import { ValidationPipe } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { PaymentSimulator } from 'nestjs-card-payment';
import { AppModule } from '../../sample/starter/src/app.module.js';
import * as english from '../../sample/starter/src/checkout/texts.js';
import * as turkish from '../../sample/starter/src/checkout/texts.tr.js';
import { TEST_CARDS } from '../../lib/simulator/index.js';

describe('the starter', () => {
  it('has the same texts in both languages', () => {
    const shapeOf = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return typeof value;
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shapeOf(part)]));
    };
    expect(shapeOf(turkish.TEXTS)).toEqual(shapeOf(english.TEXTS));
    expect([english.LANGUAGE, turkish.LANGUAGE]).toEqual(['en', 'tr']);
    expect(turkish.TEXTS.amount('149.90')).toBe('149,90 TL');
  });

  describe('on Fastify, behind a pipe of its application', () => {
    let app: NestFastifyApplication;
    let url: string;

    beforeAll(async () => {
      const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
      app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
      app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
      await app.listen(0, '127.0.0.1');
      url = await app.getUrl();
    });
    afterAll(() => app.close());

    it('takes a card in a form that a phone can show, and lets only its style through', async () => {
      const form = await fetch(`${url}/checkout`, { method: 'POST' });
      const html = await form.text();
      expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
      const policy = form.headers.get('content-security-policy');
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      const [, style = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? [];
      expect(policy).toContain(createHash('sha256').update(style).digest('base64'));
    });

    it('is paid', async () => {
      const form = await fetch(`${url}/checkout`, { method: 'POST' });
      const [card] = TEST_CARDS.filter(({ cardNo }) => cardNo.startsWith('4508'));
      const fields = {
        'cardDetails.cardNo': card!.cardNo,
        'cardDetails.expDate': card!.expDate,
        'cardDetails.cvv': card!.cvv,
        'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
        'cardHolderInfo.buyerGsm': '905551112233',
      };
      const bankPage = await fetch(form.url, { method: 'POST', body: new URLSearchParams(fields) });
      const { request } = app.get(PaymentSimulator).approve(await bankPage.text());
      const orderPage = await fetch(request.url, request);
      expect(await orderPage.text()).toContain(english.TEXTS.states.paid);
    });
  });
});

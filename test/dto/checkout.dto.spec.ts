import 'reflect-metadata';
import {
  Body,
  Controller,
  type INestApplication,
  Post,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { CheckoutDto, DoPaymentDto, Init3dDto } from '../../lib/dto/sale.dto.js';
import { validateInput } from '../../lib/dto/validate-input.js';
import { noticed, problemsOf } from './message-problems.js';
import { CARD, NOW } from './sample-input.js';

const CHECKOUT = {
  cardDetails: { cardNo: '5246 7763 5690 3508', expDate: '12 / 2030', cvv: CARD.cvv },
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '0555 111 22 33' },
  installmentCount: 3,
};

/** What a buyer may try to decide. */
const NOT_THE_BUYERS = {
  transactionDetails: { amount: '0.01', currencyCode: 392, installmentCount: 12 },
  amount: '0.01',
  reference: 'order-of-another',
  allowRepeat: true,
  returnUrl: 'https://evil.example/return',
  failUrl: 'https://evil.example/fail',
  conversationId: 'ABC12345678901234567',
  idempotencyKey: 'key-of-another',
};

/** As the README has it. */
@Controller()
class ShopController {
  checked?: Init3dDto;

  @Post('pay')
  pay(@Body() checkout: CheckoutDto): string {
    const input = {
      reference: 'order-1',
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
      transactionDetails: { amount: '149.90', currencyCode: 949, installmentCount: checkout.installmentCount },
    };
    this.checked = validateInput(Init3dDto, input, { luhn: true, now: NOW });
    return 'checked';
  }

  /** What the README warns of. */
  @Post('careless')
  careless(@Body() payment: DoPaymentDto): string {
    this.checked = validateInput(DoPaymentDto, payment, { luhn: true, now: NOW });
    return 'checked';
  }
}

const WANTED = {
  reference: 'order-1',
  cardDetails: { ...CARD },
  cardHolderInfo: CHECKOUT.cardHolderInfo,
  transactionDetails: { amount: '149.90', currencyCode: 949, installmentCount: 3 },
};

const SETTINGS: readonly ValidationPipeOptions[] = [true, false].flatMap((transform) =>
  [
    {},
    { whitelist: true },
    { whitelist: true, forbidNonWhitelisted: true },
    { forbidUnknownValues: true, stopAtFirstError: true },
  ].flatMap((options) => [
    { transform, ...options },
    { transform, ...options, transformOptions: { enableImplicitConversion: true } },
  ]),
);

/** Without `transform`, a pipe that checks more than the rules hands on a copy, in which the card is masked. */
function handsOnMasked({ transform, transformOptions: _, ...others }: ValidationPipeOptions = {}): boolean {
  return transform === false && Object.keys(others).length > 0;
}

describe('CheckoutDto', () => {
  it('is a card, its holder, and perhaps instalments', () => {
    expect(problemsOf(CheckoutDto, CHECKOUT)).toEqual([]);
    expect(problemsOf(CheckoutDto, { ...CHECKOUT, installmentCount: undefined })).toEqual([]);
    expect(problemsOf(CheckoutDto, {})).toEqual(['cardDetails', 'cardHolderInfo']);
    const bad = {
      cardDetails: 'x',
      'cardDetails.cardNo': '5246 7763 5690 3509',
      'cardDetails.expDate': '12/1930',
      'cardDetails.cvv': 792,
      'cardHolderInfo.cardHolderName': '',
      'cardHolderInfo.buyerGsm': 'x',
      installmentCount: '3',
      ...NOT_THE_BUYERS,
    };
    expect(noticed(CheckoutDto, CHECKOUT, bad)).toEqual(Object.keys(bad));
  });
});

describe.each([
  ['Express', () => undefined],
  ['Fastify', () => new FastifyAdapter()],
])('on %s', (_name, adapter) => {
  let app: INestApplication;

  async function start(options?: ValidationPipeOptions): Promise<void> {
    const module = await Test.createTestingModule({ controllers: [ShopController] }).compile();
    const fastify = adapter();
    app = fastify
      ? module.createNestApplication(fastify, { logger: false })
      : module.createNestApplication({ logger: false });
    if (options) app.useGlobalPipes(new ValidationPipe(options));
    await app.listen(0, '127.0.0.1');
  }

  async function post(path: string, body: object): Promise<{ status: number; text: string; checked: unknown }> {
    const response = await fetch(`${await app.getUrl()}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { checked } = app.get(ShopController);
    const plain = checked && { ...checked, cardDetails: { ...checked.cardDetails } };
    return { status: response.status, text: await response.text(), checked: plain };
  }

  afterEach(() => app.close());

  it.each([undefined, ...SETTINGS])('is taken, and its card as people type it, by a pipe with %j', async (options) => {
    await start(options);
    const { status, text, checked } = await post('pay', CHECKOUT);
    expect([status, checked]).toEqual(handsOnMasked(options) ? [400, undefined] : [201, WANTED]);
    expect(text.includes('`transform: true`')).toBe(handsOnMasked(options));
  });

  it.each(SETTINGS)('is all that a buyer decides, by a pipe with %j', async (options) => {
    await start(options);
    const { status, text, checked } = await post('pay', { ...CHECKOUT, ...NOT_THE_BUYERS });
    if (options.forbidNonWhitelisted) {
      expect([status, checked]).toEqual([400, undefined]);
      for (const name of Object.keys(NOT_THE_BUYERS)) expect(text).toContain(`property ${name} should not exist`);
    } else expect([status, checked]).toEqual(handsOnMasked(options) ? [400, undefined] : [201, WANTED]);
    expect(text).not.toContain('evil');
  });

  it('keeps the text "false" from becoming true by implicit conversion, and numbers from becoming a card', async () => {
    await start({ transform: true, transformOptions: { enableImplicitConversion: true } });
    const payment = { ...WANTED, cardDetails: CARD };
    expect((await post('careless', payment)).status).toBe(201);
    for (const [path, body] of [
      ['allowRepeat', { ...payment, allowRepeat: 'false' }],
      ['vftFlag', { ...payment, transactionDetails: { ...payment.transactionDetails, vftFlag: 'false' } }],
      ['cardNo', { ...payment, cardDetails: { ...CARD, cardNo: 5246776356903508 } }],
      ['expDate', { ...payment, cardDetails: { ...CARD, expDate: 1230 } }],
      ['cvv', { ...payment, cardDetails: { ...CARD, cvv: 792 } }],
    ] as const) {
      const { status, text } = await post('careless', body);
      expect([status, text]).toEqual([400, expect.stringContaining(path)]);
    }
  });
});

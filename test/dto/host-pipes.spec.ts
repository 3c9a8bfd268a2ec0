import 'reflect-metadata';
import { HttpException, ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import { CARD_CHECKS, CardDetailsDto } from '../../lib/dto/card.dto.js';
import { CheckoutDto, DoPaymentDto, Init3dDto } from '../../lib/dto/sale.dto.js';
import { validateInput } from '../../lib/dto/validate-input.js';
import { noticed, problemsOf } from './message-problems.js';
import { CARD, fullInput, MASKED, NON_LUHN, NOW, sampleInput } from './sample-input.js';

// That an application passes them on by Express and by Fastify is in test/e2e/smallest-application.spec.ts.

const CHECKS = { luhn: true, now: NOW };
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
const STRICT: ValidationPipeOptions = { transform: true, whitelist: true, forbidNonWhitelisted: true };

/** Without `transform`, a pipe that checks more than the rules hands on a copy, in which the card is masked. */
function handsOnMasked({ transform, transformOptions: _, ...others }: ValidationPipeOptions = {}): boolean {
  return transform === false && Object.keys(others).length > 0;
}

/** What a controller gets of a JSON body behind a host's pipe (none for undefined), or with which status it is refused. */
async function piped<T extends object, R>(
  options: ValidationPipeOptions | undefined,
  metatype: new () => T,
  body: unknown,
  route: (received: T) => R,
): Promise<{ status: number; text: string; received?: R }> {
  const parsed: unknown = JSON.parse(JSON.stringify(body));
  try {
    const pipe = options && new ValidationPipe(options);
    const given: unknown = pipe ? await pipe.transform(parsed, { type: 'body', metatype }) : parsed;
    return { status: 201, text: '', received: route(given as T) };
  } catch (error) {
    if (error instanceof HttpException) return { status: error.getStatus(), text: JSON.stringify(error.getResponse()) };
    const { statusCode = 500, message } = error as { statusCode?: number; message: string };
    return { status: statusCode, text: message };
  }
}

/** As the README has it: the amount and the reference are the order's. */
function takeCheckout({ cardDetails, cardHolderInfo, installmentCount }: CheckoutDto) {
  const transactionDetails = { amount: '149.90', currencyCode: 949, installmentCount };
  const input = { reference: 'order-1', cardDetails, cardHolderInfo, transactionDetails };
  const checked = validateInput(Init3dDto, input, CHECKS);
  return { ...checked, cardDetails: { ...checked.cardDetails } };
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

  it.each([undefined, ...SETTINGS])('is taken, and its card as people type it, by a pipe with %j', async (options) => {
    const { status, text, received } = await piped(options, CheckoutDto, CHECKOUT, takeCheckout);
    expect([status, received]).toEqual(handsOnMasked(options) ? [400, undefined] : [201, WANTED]);
    expect(text.includes('`transform: true`')).toBe(handsOnMasked(options));
  });

  it.each(SETTINGS)('is all that a buyer decides, by a pipe with %j', async (options) => {
    const { status, text, received } = await piped(
      options,
      CheckoutDto,
      { ...CHECKOUT, ...NOT_THE_BUYERS },
      takeCheckout,
    );
    const isRefused = options.forbidNonWhitelisted === true || handsOnMasked(options);
    expect([status, received]).toEqual(isRefused ? [400, undefined] : [201, WANTED]);
    if (options.forbidNonWhitelisted) {
      for (const name of Object.keys(NOT_THE_BUYERS)) expect(text).toContain(`property ${name} should not exist`);
    }
    expect(text).not.toContain('evil');
  });
});

describe('DoPaymentDto behind a ValidationPipe of a host', () => {
  const pay = (options: ValidationPipeOptions, body: unknown) =>
    piped(options, DoPaymentDto, body, (payment) => payment);
  const messagesOf = ({ text }: { text: string }): string[] => (JSON.parse(text) as { message: string[] }).message;

  it.each([DoPaymentDto, Init3dDto])(
    'is taken with its parts made into classes, which print masked (%p)',
    async (type) => {
      const { received } = await piped(STRICT, type, fullInput(), (payment) => payment);
      expect(received).toBeInstanceOf(type);
      expect(received?.cardDetails).toBeInstanceOf(CardDetailsDto);
      expect({ ...received?.cardDetails }).toEqual(CARD);
      expect(validateInput(DoPaymentDto, received, CHECKS).reference).toBe('order-1');
      const printed = JSON.stringify(received);
      expect(printed).toContain(MASKED);
      expect(printed).not.toContain(CARD.cardNo);
    },
  );

  it.each([STRICT, {}, { ...STRICT, errorFormat: 'grouped' as const }])(
    'has each wrong path named, and no value shown (%j)',
    async (options) => {
      const { status, text } = await pay(options, {
        ...sampleInput(),
        cardDetails: { cardNo: NON_LUHN, expDate: '1350', cvv: 'secret' },
        transactionDetails: { amount: '149.9055', currencyCode: 'lira' },
        cardHolderInfo: 'nobody',
        returnUrl: 'ftp://nowhere',
      });
      expect(status).toBe(400);
      for (const path of [
        ...['cardDetails.cardNo', 'cardDetails.expDate', 'cardDetails.cvv'],
        ...['transactionDetails.amount', 'transactionDetails.currencyCode', 'cardHolderInfo', 'returnUrl'],
      ]) {
        expect(text).toContain(path);
      }
      expect(text).not.toMatch(/4508034508034581|1350|secret|149\.9055|lira|nobody|nowhere/);
    },
  );

  it('is checked by Luhn and for the expiry, either of which can be left out', async () => {
    const body = { ...sampleInput(), cardDetails: { ...CARD, cardNo: NON_LUHN, expDate: '0120' } };
    const about = async (more: ValidationPipeOptions) =>
      messagesOf(await pay({ ...STRICT, ...more }, body)).map((message) => /mistyped|past/.exec(message)?.[0]);
    expect((await about({})).sort()).toEqual(['mistyped', 'past']);
    const expiryAlone = { always: true, groups: [CARD_CHECKS.expiry] };
    expect(await about(expiryAlone)).toEqual(['past']);
    const noNumber = { ...body, cardDetails: { ...CARD, cardNo: '1' } };
    expect((await pay({ ...STRICT, ...expiryAlone }, noNumber)).status).toBe(400);
    expect(await about({ always: true, groups: [CARD_CHECKS.luhn] })).toEqual(['mistyped']);
  });

  it('keeps the text "false" from becoming true by implicit conversion, and numbers from becoming a card', async () => {
    const options = { transform: true, transformOptions: { enableImplicitConversion: true } };
    const payment = { ...WANTED, cardDetails: CARD };
    const careless = (body: object) =>
      piped(options, DoPaymentDto, body, (received) => validateInput(DoPaymentDto, received, CHECKS));
    expect((await careless(payment)).status).toBe(201);
    for (const [path, body] of [
      ['allowRepeat', { ...payment, allowRepeat: 'false' }],
      ['vftFlag', { ...payment, transactionDetails: { ...payment.transactionDetails, vftFlag: 'false' } }],
      ['cardNo', { ...payment, cardDetails: { ...CARD, cardNo: 5246776356903508 } }],
      ['expDate', { ...payment, cardDetails: { ...CARD, expDate: 1230 } }],
      ['cvv', { ...payment, cardDetails: { ...CARD, cvv: 792 } }],
    ] as const) {
      const { status, text } = await careless(body);
      expect([status, text]).toEqual([400, expect.stringContaining(path)]);
    }
  });
});

import 'reflect-metadata';
import { type ArgumentMetadata, BadRequestException } from '@nestjs/common';
import { IsIn, IsString } from 'class-validator';
import { inspect } from 'node:util';
import { CardDetailsDto } from '../../lib/dto/card.dto.js';
import { CheckoutDto } from '../../lib/dto/sale.dto.js';
import { paymentValidationPipe } from '../../lib/http/payment-validation.pipe.js';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import { cpuMs } from '../rigs/cpu-time.js';
import { CARD } from '../dto/sample-input.js';

class OwnCheckout extends CheckoutDto {
  @IsIn(['courier', 'post'], { message: 'choose a delivery' })
  delivery!: string;
}

class OwnDto {
  @IsString()
  text!: string;
}

const FLAT = {
  'cardDetails[cardNo]': CARD.cardNo,
  'cardDetails.expDate': '12/2030',
  'cardDetails[cvv]': CARD.cvv,
  'cardHolderInfo[cardHolderName]': 'ADA YILMAZ',
  'cardHolderInfo.buyerGsm': '905551112233',
};
const NESTED = {
  cardDetails: { ...CARD },
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
};

const body = (metatype: ArgumentMetadata['metatype']): ArgumentMetadata => ({ type: 'body', metatype });

async function refusal(
  value: unknown,
  pipe = paymentValidationPipe(),
  metatype: ArgumentMetadata['metatype'] = CheckoutDto,
) {
  const error: unknown = await pipe.transform(value, body(metatype)).catch((thrown: unknown) => thrown);
  if (!(error instanceof PaymentValidationError)) throw new Error(`no refusal: ${inspect(error)}`);
  return error;
}

describe('paymentValidationPipe', () => {
  it.each([FLAT, NESTED])('gives an instance of a form, flat or nested: %j', async (form) => {
    const given = (await paymentValidationPipe().transform(form, body(CheckoutDto))) as CheckoutDto;
    expect(given).toBeInstanceOf(CheckoutDto);
    expect(given.cardDetails).toBeInstanceOf(CardDetailsDto);
    expect({ ...given.cardDetails }).toEqual(CARD);
    expect({ ...given.cardHolderInfo }).toEqual(NESTED.cardHolderInfo);
    expect(JSON.stringify(given)).not.toContain(CARD.cardNo);
  });

  it('words a host’s own rule by its message, whatever its context is', async () => {
    class Nicknamed extends CheckoutDto {
      @IsIn(['Ada'], { message: 'choose a name', context: { errorCode: 5 } })
      nickname!: string;
    }
    const { issues } = await refusal({ ...NESTED, nickname: 'Eve' }, paymentValidationPipe(), Nicknamed);
    expect(issues).toEqual([{ path: 'nickname', field: 'nickname', rule: 'isIn', message: 'choose a name' }]);
  });

  it('takes any language tag: what is not Turkish is English', async () => {
    const pipe = paymentValidationPipe({ language: 'de-DE' as 'en' });
    expect((await refusal({}, pipe)).message).toMatch(/^The payment was refused/);
  });

  it.each(['④⑤⓪⑧⓪③④⑤⓪⑧⓪③④⑤⓪⑧', '❹❺❽❹❺❽❹❺❽❹❺❽'])('takes %j for no name', async (cardHolderName) => {
    const { issues } = await refusal({ ...NESTED, cardHolderInfo: { ...NESTED.cardHolderInfo, cardHolderName } });
    expect(issues).toEqual([expect.objectContaining({ path: 'cardHolderInfo.cardHolderName', rule: 'cardFree' })]);
  });

  it('gives an instance also without transform, and leaves out what is no field', async () => {
    const pipe = paymentValidationPipe({ transform: false });
    const given: unknown = await pipe.transform({ ...NESTED, amount: '0.01' }, body(CheckoutDto));
    expect(given).toBeInstanceOf(CheckoutDto);
    expect(given).not.toHaveProperty('amount');
  });

  it.each([
    ['tr', undefined, 'Güvenlik kodu 3 veya 4 rakam olmalı'],
    ['en', 'en', 'Security code must be 3 or 4 digits'],
  ] as const)('refuses in %s', async (_language, language, message) => {
    const pipe = paymentValidationPipe({ ...(language && { language }) });
    const { issues, message: forProgrammers } = await refusal({ ...FLAT, 'cardDetails[cvv]': '1' }, pipe);
    expect(issues.map((issue) => [issue.path, issue.message])).toEqual([['cardDetails.cvv', message]]);
    expect(forProgrammers).toMatch(/^The payment was refused before sending: .* must be 3 or 4 digits$/);
  });

  it('takes the fields of a class that extends ours, with its rules and its words', async () => {
    const form = { ...FLAT, delivery: 'post' };
    const given: unknown = await paymentValidationPipe().transform(form, body(OwnCheckout));
    expect(given).toBeInstanceOf(OwnCheckout);
    expect(given).toMatchObject({ delivery: 'post' });
    const { issues } = await refusal({ ...FLAT, delivery: 'x' }, undefined, OwnCheckout);
    expect(issues).toEqual([{ path: 'delivery', field: 'delivery', rule: 'isIn', message: 'choose a delivery' }]);
  });

  it('is Nest’s own pipe for other classes', async () => {
    const pipe = paymentValidationPipe();
    expect(await pipe.transform({ text: 'x', more: 1 }, body(OwnDto))).toEqual({ text: 'x' });
    await expect(pipe.transform({ text: 1 }, body(OwnDto))).rejects.toBeInstanceOf(BadRequestException);
    await expect(pipe.transform({ 'a[b]': 1 }, body(Object))).resolves.toEqual({ 'a[b]': 1 });
    await expect(pipe.transform('7', { type: 'param', metatype: Number, data: 'id' })).resolves.toBe(7);
    await expect(pipe.transform(NESTED, { type: 'custom', metatype: CheckoutDto })).resolves.toBe(NESTED);
  });

  it('is Nest’s own pipe for the type that it is told', async () => {
    const pipe = paymentValidationPipe({ expectedType: CheckoutDto });
    expect(await pipe.transform(FLAT, body(Object))).toBeInstanceOf(CheckoutDto);
  });

  it('refuses another field where it is told to', async () => {
    const { issues } = await refusal(
      { ...FLAT, amount: '0.01' },
      paymentValidationPipe({ forbidNonWhitelisted: true }),
    );
    expect(issues.map(({ path, rule }) => `${path} ${rule}`)).toEqual(['amount unknownField']);
  });

  it('reports the card number in another field, which takes two fields to see', async () => {
    const form = { ...NESTED, cardHolderInfo: { ...NESTED.cardHolderInfo, buyerGsm: '90555111223' } };
    const cardNo = '590555111227';
    const { issues } = await refusal(
      {
        ...form,
        cardDetails: { ...CARD, cardNo },
        cardHolderInfo: { cardHolderName: 'ADA', buyerGsm: cardNo },
      },
      paymentValidationPipe({ always: true, groups: ['none'] }),
    );
    expect(issues.map(({ path, rule }) => `${path} ${rule}`)).toEqual(['cardHolderInfo.buyerGsm cardFree']);
  });

  const deep = (depth: number): unknown => (depth === 0 ? 'x' : { x: deep(depth - 1) });

  it.each<[string, unknown, string]>([
    ['text', 'x', 'input isObject'],
    ['a list', [NESTED], 'input isObject'],
    [
      'many fields',
      Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`f${index}`, 'x'])),
      'input fieldCount',
    ],
    ['depth', { ...NESTED, more: deep(5_000) }, 'input unreadable'],
    ['a forged name', JSON.parse('{"__proto__": {}}'), '? unknownField'],
    ['a forged name, nested', { 'cardDetails[__proto__]': 'x' }, '? unknownField'],
    ['a forged object', { 'constructor.prototype': 'x' }, '? unknownField'],
    ['two ways', { ...FLAT, 'cardDetails.cvv': '1' }, 'cardDetails.cvv repeatedField'],
  ])('refuses %s', async (_what, value, issue) => {
    const { issues } = await refusal(value);
    expect(issues.map(({ path, rule }) => `${path} ${rule}`)).toEqual([issue]);
  });

  it.each<[string, unknown]>([
    ['as the body', Array.from({ length: 350_000 }, () => ({}))],
    ['as the card', { ...NESTED, cardDetails: Array.from({ length: 350_000 }, () => ({})) }],
    ['in the card', { ...NESTED, cardDetails: { cardNo: Array.from({ length: 350_000 }, () => ({})) } }],
  ])('refuses a megabyte of empty objects %s before it makes anything of them', async (_where, value) => {
    const before = cpuMs();
    await refusal(value);
    expect(cpuMs() - before).toBeLessThan(100);
  });

  it('takes a body that is missing for an empty one', async () => {
    for (const nothing of [undefined, null, {}]) {
      expect((await refusal(nothing)).issues.map(({ path }) => path)).toEqual(['cardDetails', 'cardHolderInfo']);
    }
  });

  it('rejects where no card is on the stack', async () => {
    const { stack } = await refusal({ ...FLAT, 'cardDetails[cvv]': '1' });
    expect(stack).toBeDefined();
    expect(inspect(await refusal({ ...FLAT, 'cardDetails[cvv]': '1' }), { showHidden: true, depth: 9 })).not.toContain(
      CARD.cardNo,
    );
  });
});

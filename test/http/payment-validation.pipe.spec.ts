import 'reflect-metadata';
import { type ArgumentMetadata, BadRequestException } from '@nestjs/common';
import { IsIn, IsString } from 'class-validator';
import { inspect } from 'node:util';
import { CardDetailsDto } from '../../lib/dto/card.dto.js';
import { CheckoutDto } from '../../lib/dto/sale.dto.js';
import { paymentValidationPipe } from '../../lib/http/payment-validation.pipe.js';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import { cpuMs } from '../rigs/cpu-time.js';
import { expectCases } from '../rigs/case-texts.js';
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

const deep = (depth: number): unknown => (depth === 0 ? 'x' : { x: deep(depth - 1) });

/** What a request may hold, by the names of expected/forms.txt. */
const BODIES: Readonly<Record<string, unknown>> = {
  nested: NESTED,
  flat: FLAT,
  text: 'x',
  list: [NESTED],
  many: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`f${index}`, 'x'])),
  deep: { ...NESTED, more: deep(5_000) },
  empty: {},
  null: null,
  undefined: undefined,
};

/** A body, and fields that it has besides. @returns what is wrong with it, and the text for programmers */
function ofBody(options: Parameters<typeof paymentValidationPipe>[0] = {}) {
  return async (input: string): Promise<string> => {
    const [name = '', ...more] = input.split(' ');
    // Read, as a parser does, so that __proto__ is a name like others.
    const form = more.length > 0 ? fieldsOf(BODIES[name] as object, more.join(' ')) : BODIES[name];
    const { issues, message } = await refusal(form, paymentValidationPipe(options));
    return [...issues.map((issue) => `${issue.path} ${issue.rule}: ${issue.message}`), message].join('\n');
  };
}

function fieldsOf(body: object, more: string): unknown {
  return JSON.parse(JSON.stringify({ ...body }).replace(/}$/, `,${more.slice(1)}`));
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

  it('refuses as in expected/forms.txt', () =>
    expectCases(import.meta.url, 'forms.txt', {
      'A form': ofBody(),
      'A form, in English': ofBody({ language: 'en' }),
      'A form, in another language: English, too': ofBody({ language: 'de-DE' as 'en' }),
      'A form, where other fields are refused': ofBody({ forbidNonWhitelisted: true }),
      'A form, where its rules are of a group': ofBody({ always: true, groups: ['none'] }),
    }));

  it('gives an instance also without transform, and leaves out what is no field', async () => {
    const pipe = paymentValidationPipe({ transform: false });
    const given: unknown = await pipe.transform({ ...NESTED, amount: '0.01' }, body(CheckoutDto));
    expect(given).toBeInstanceOf(CheckoutDto);
    expect(given).not.toHaveProperty('amount');
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

  it.each<[string, unknown]>([
    ['as the body', Array.from({ length: 350_000 }, () => ({}))],
    ['as the card', { ...NESTED, cardDetails: Array.from({ length: 350_000 }, () => ({})) }],
    ['in the card', { ...NESTED, cardDetails: { cardNo: Array.from({ length: 350_000 }, () => ({})) } }],
  ])('refuses a megabyte of empty objects %s before it makes anything of them', async (_where, value) => {
    const before = cpuMs();
    await refusal(value);
    expect(cpuMs() - before).toBeLessThan(100);
  });

  it('refuses by an error that holds no card', async () => {
    const error = await refusal({ ...FLAT, 'cardDetails[cvv]': '1' });
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain(CARD.cardNo);
  });
});

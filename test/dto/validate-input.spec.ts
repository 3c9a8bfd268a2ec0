import { inspect } from 'node:util';
import { instanceToPlain, plainToInstance } from 'class-transformer';
import fc from 'fast-check';
import { CardDetailsDto, maskedCard } from '../../lib/dto/card.dto.js';
import { DoPaymentDto, Init3dDto } from '../../lib/dto/sale.dto.js';
import { validateInput } from '../../lib/dto/validate-input.js';
import { PaymentValidationError, type ValidationIssue } from '../../lib/errors/payment-errors.js';
import { CARD, fullInput, MASKED, NON_LUHN, NOW, sampleInput } from './sample-input.js';

const CHECKS = { luhn: true, now: NOW };

function errorOf(input: unknown, checks = CHECKS): PaymentValidationError {
  try {
    validateInput(DoPaymentDto, input, checks);
  } catch (error) {
    if (error instanceof PaymentValidationError) return error;
    throw error;
  }
  throw new Error('the input was taken');
}

function rulesOf(input: unknown, checks = CHECKS): string[] {
  return errorOf(input, checks).issues.map(({ path, rule }: ValidationIssue) => `${path} ${rule}`);
}

/** A valid input with one field set, by its dotted path; undefined takes it out. */
function inputWith(path: string, value: unknown): object {
  const input = fullInput();
  const [first = '', second] = path.split('.');
  const owner = second === undefined ? input : (input[first] as Record<string, unknown>);
  owner[second ?? first] = value;
  return input;
}

const NOT_TEXT = [
  null,
  7,
  true,
  '',
  '   ',
  'a\nb',
  'a\u0000b',
  'a\u2028b',
  '\ud800',
  'x'.repeat(256),
  ['x'],
  {},
  Symbol('x'),
  9n,
];
const NOT_TRUE_OR_FALSE = [null, 'yes', 1, 0, [], {}, new Boolean(true)];
const NOT_AN_OBJECT = [null, 'x', 7, true, [], [{}], () => ({}), Symbol('x')];
const NOT_WHOLE = [null, '1', 0, -1, 1.5, 1000, NaN, Infinity, 1e300, [1], {}, 1n];
const NOT_A_URL = [
  null,
  7,
  '',
  'shop.example',
  '/return',
  'ftp://shop.example',
  'javascript:alert(1)',
  'https://',
  'https:shop',
  ' https://shop.example',
  'https://shop.example/a b',
  'https://shop.example/\n',
  `https://shop.example/${'x'.repeat(2048)}`,
  {},
  [],
];

const BAD: [path: string, rule: string, values: readonly unknown[]][] = [
  ['cardDetails', 'isObject', NOT_AN_OBJECT.slice(1)],
  ['cardDetails', 'isDefined', [undefined, null]],
  ['transactionDetails', 'isObject', NOT_AN_OBJECT.slice(1)],
  ['transactionDetails', 'isDefined', [undefined, null]],
  ['cardHolderInfo', 'isObject', NOT_AN_OBJECT.slice(1)],
  ['cardHolderInfo', 'isDefined', [undefined, null]],
  ['extraParameter', 'isObject', NOT_AN_OBJECT],
  ['cardDetails.cardNo', 'isDefined', [undefined, null]],
  [
    'cardDetails.cardNo',
    'cardNumber',
    [
      '',
      '1234',
      5246776356903508,
      '52467763569035O8',
      '5246.7763.5690.3508',
      '5246_7763_5690_3508',
      '5246,7763,5690,3508',
      ' - ',
      `\t${CARD.cardNo}`,
      `${CARD.cardNo}\n`,
      `${CARD.cardNo}\u200b`,
      '0'.repeat(11),
      '0'.repeat(20),
      '1'.repeat(20),
      '٥'.repeat(16),
      [CARD.cardNo],
      { toString: 1 },
      new String(CARD.cardNo),
      Symbol('x'),
    ],
  ],
  ['cardDetails.cardNo', 'luhn', [NON_LUHN, '5246776356903509']],
  ['cardDetails.expDate', 'isDefined', [undefined, null]],
  [
    'cardDetails.expDate',
    'expiry',
    [
      '',
      '1330',
      '13/30',
      '0030',
      '00/30',
      '12/1930',
      '12/2130',
      '12/203',
      '12//30',
      '230',
      '2030/12',
      '0/30',
      '02 2 30',
      '12/-30',
      '132030',
      '22030',
      '30/12',
      '12/30\n',
      '123',
      1230,
      '12a0',
      [],
      {},
    ],
  ],
  ['cardDetails.expDate', 'notExpired', ['0526', '1225', '0100', '05/26', '12 / 2025']],
  ['cardDetails.cvv', 'isDefined', [undefined, null]],
  ['cardDetails.cvv', 'securityCode', ['', '12', '12345', '00a', 792, '7 2', 'abc', '792\n', ['792'], {}]],
  ['transactionDetails.transactionType', 'oneOf', [...NOT_TEXT, 'PREAUTH', 'REFUND', 'VOID', 'SALE ', CARD.cardNo]],
  ['transactionDetails.installmentCount', 'wholeNumber', NOT_WHOLE],
  ['transactionDetails.amount', 'isDefined', [undefined, null]],
  [
    'transactionDetails.amount',
    'amountFormat',
    ['', 'x', '1,50', '-1', -1, '1e3', NaN, 1e21, ' 1', true, [], {}, Symbol('x'), 10n],
  ],
  ['transactionDetails.amount', 'amountPositive', ['0', 0, '0.00']],
  ['transactionDetails.amount', 'amountDecimals', ['1.001', 0.1 + 0.2]],
  ['transactionDetails.amount', 'amountDigits', ['1234567890123456']],
  ['transactionDetails.currencyCode', 'isDefined', [undefined, null]],
  [
    'transactionDetails.currencyCode',
    'currencyCode',
    [...NOT_WHOLE.slice(1), 'TRY', '949', 1, 792, 963, 999, Symbol('x')],
  ],
  ['transactionDetails.vftFlag', 'isBoolean', NOT_TRUE_OR_FALSE],
  ['cardHolderInfo.cardHolderName', 'isDefined', [undefined, null]],
  ['cardHolderInfo.cardHolderName', 'text', NOT_TEXT.slice(1)],
  ['cardHolderInfo.buyerGsm', 'isDefined', [undefined, null]],
  [
    'cardHolderInfo.buyerGsm',
    'phoneNumber',
    [
      '',
      '123456',
      '1234567890123456',
      '90555111223x',
      905551112233,
      '90+5551112233',
      '++905551112233',
      '++9055511',
      '-------',
      [],
      {},
    ],
  ],
  ['extraParameter.pfSubMerchantId', 'text', NOT_TEXT],
  ['paymentMethod', 'text', NOT_TEXT],
  ['language', 'text', NOT_TEXT],
  ['paymentInstrumentType', 'text', NOT_TEXT],
  ['conversationId', 'text', NOT_TEXT],
  ['reference', 'text', NOT_TEXT],
  ['idempotencyKey', 'text', NOT_TEXT],
  ['allowRepeat', 'isBoolean', NOT_TRUE_OR_FALSE],
  ['returnUrl', 'webUrl', NOT_A_URL],
  ['failUrl', 'webUrl', NOT_A_URL],
  ['merchantId', 'unknownField', ['x', null, {}, []]],
  ['sign', 'unknownField', ['x']],
  ['cardDetails.pin', 'unknownField', ['1234', null]],
  ['transactionDetails.AMOUNT', 'unknownField', [1]],
  ['cardHolderInfo.address', 'unknownField', [{ street: 'x' }]],
  ['extraParameter.other', 'unknownField', [[]]],
  ['constructor', 'unknownField', ['x', {}]],
  ['toJSON', 'unknownField', ['x']],
  ['cardDetails.toString', 'unknownField', ['x']],
  ['cardDetails.hasOwnProperty', 'unknownField', ['x']],
];

describe('validateInput', () => {
  it.each(BAD.flatMap(([path, rule, values]) => values.map((value) => ({ path, rule, value }))))(
    'refuses $path that is $value: $rule',
    ({ path, rule, value }) => {
      const error = errorOf(inputWith(path, value));
      expect(error.issues.map((issue) => `${issue.path} ${issue.rule}`)).toEqual([`${path} ${rule}`]);
      expect(error.issues[0]?.message).toMatch(/^[\w$][^$]{10,}$/);
      if (typeof value !== 'string' || value.trim().length < 4) return;
      for (const shown of [
        error.message,
        error.stack,
        JSON.stringify(error),
        inspect(error, { depth: 9, showHidden: true }),
      ]) {
        expect(shown).not.toContain(value);
        expect(shown).not.toContain(CARD.cardNo);
      }
    },
  );

  it('says of every rule in Turkish what it says in English', () => {
    for (const [path, , [value]] of BAD) {
      const error = errorOf(inputWith(path, value));
      const turkish = error.issuesIn('tr');
      expect(turkish.map(({ rule }) => rule)).toEqual(error.issues.map(({ rule }) => rule));
      for (const [index, { message }] of turkish.entries()) {
        expect(message).not.toBe(error.issues[index]?.message);
        expect(message).not.toMatch(/\b(must|is|not|be|field|text|digits?)\b|\$property/);
      }
    }
    const inTurkish = (input: unknown) => errorOf(input).issuesIn('tr')[0]?.message;
    expect(inTurkish({ ...sampleInput(), cardDetails: { ...maskedCard(CARD) } })).toMatch(
      /maskelenmiş.*`transform: true`/,
    );
    expect(inTurkish({ ...sampleInput(), reference: CARD.cardNo })).toMatch(/kart numarası/);
    expect(inTurkish(null)).toMatch(/nesne olmalı$/);
  });

  it.each<['en' | 'tr', RegExp]>([
    ['en', /^currencyCode must be the ISO 4217 number.*949 for TRY.*neither letters \("TRY"\) nor text \("949"\)/],
    ['tr', /^currencyCode, .*ISO 4217 numarası.*TRY için 949.*harf kodu \("TRY"\) ve metin \("949"\) kabul edilmez/],
  ])('says what a currency is, in %s', (language, text) => {
    for (const value of ['TRY', '949', 963, 792]) {
      const error = errorOf(inputWith('transactionDetails.currencyCode', value));
      expect(error.issuesIn(language)).toEqual([
        {
          path: 'transactionDetails.currencyCode',
          field: 'currencyCode',
          rule: 'currencyCode',
          message: expect.stringMatching(text),
        },
      ]);
    }
  });

  it.each(['tr', 'en', 'de'])('speaks English to programmers, whatever the payment does (%s)', (language) => {
    const error = errorOf({ ...sampleInput(), language, cardDetails: { ...CARD, cvv: '1' } });
    expect(error.message).toBe(
      'The payment was refused before sending: cardDetails.cvv: Security code must be 3 or 4 digits',
    );
    expect(error.issues).toEqual(error.issuesIn('en'));
  });

  it('takes what is required alone, and every field', () => {
    expect({ ...validateInput(DoPaymentDto, sampleInput(), CHECKS) }).toEqual({
      ...sampleInput(),
      cardDetails: Object.assign(new CardDetailsDto(), CARD),
    });
    const full = validateInput(Init3dDto, fullInput(), CHECKS);
    expect(full).toBeInstanceOf(Init3dDto);
    expect(full.cardDetails).toBeInstanceOf(CardDetailsDto);
    expect({ ...full.cardDetails }).toEqual(CARD);
    expect(full.transactionDetails).toMatchObject(fullInput().transactionDetails);
    expect(full.returnUrl).toBe(fullInput().returnUrl);
  });

  it.each([
    '5246 7763 5690 3508',
    '5246-7763-5690-3508',
    '524 677-635  690 3508',
    ` ${CARD.cardNo} `,
    '5246\u00a07763\u202f5690\u20133508',
  ])('reads a card number as people type it: %j', (cardNo) => {
    const input = { ...sampleInput(), cardDetails: { ...CARD, cardNo } };
    const { cardDetails } = validateInput(DoPaymentDto, input, CHECKS);
    expect(cardDetails.cardNo).toBe(CARD.cardNo);
    expect(inspect(cardDetails)).toContain(MASKED);
    expect(input.cardDetails.cardNo).toBe(cardNo);
    const instance = Object.assign(new DoPaymentDto(), input, {
      cardDetails: Object.assign(new CardDetailsDto(), input.cardDetails),
    });
    expect(validateInput(DoPaymentDto, instance, CHECKS).cardDetails.cardNo).toBe(CARD.cardNo);
    expect(instance.cardDetails.cardNo).toBe(cardNo);
    expect(rulesOf({ ...input, reference: `card ${CARD.cardNo}` })).toEqual(['reference cardFree']);
    expect(rulesOf({ ...input, cardDetails: { ...CARD, cardNo: cardNo.replace(/8(\D*)$/, '9$1') } })).toEqual([
      'cardDetails.cardNo luhn',
    ]);
  });

  it.each(['conversationId', 'reference', 'idempotencyKey'])('refuses a card number as %s', (field) => {
    for (const text of [CARD.cardNo, `a ${CARD.cardNo} b`]) {
      expect(rulesOf({ ...sampleInput(), [field]: text })).toEqual([`${field} cardFree`]);
    }
  });

  it.each(['cardHolderInfo.cardHolderName', 'extraParameter.pfSubMerchantId', 'paymentMethod'])(
    'refuses a card number as %s, also with signs in it',
    (path) => {
      for (const text of [CARD.cardNo, CARD.cardNo.replace(/(.{4})(?=.)/g, '$1-'), `ADA ${CARD.cardNo}`]) {
        expect(rulesOf(inputWith(path, text))).toEqual([`${path} cardFree`]);
      }
    },
  );

  it('refuses another card number as the name of the holder', () => {
    expect(rulesOf(inputWith('cardHolderInfo.cardHolderName', '4508 0345 0803 4509'))).toEqual([
      'cardHolderInfo.cardHolderName cardFree',
    ]);
    expect(
      validateInput(DoPaymentDto, inputWith('cardHolderInfo.cardHolderName', 'ADA YILMAZ 2'), CHECKS),
    ).toBeDefined();
  });

  it('words its issues in either language, with the names that buyers know', () => {
    const error = errorOf(inputWith('cardDetails.cardNo', NON_LUHN));
    expect(error.issuesIn('en')).toEqual([
      { path: 'cardDetails.cardNo', field: 'Card number', rule: 'luhn', message: 'Card number has a mistyped digit' },
    ]);
    expect(error.issuesIn('tr')).toEqual([
      {
        path: 'cardDetails.cardNo',
        field: 'Kart numarası',
        rule: 'luhn',
        message: 'Kart numarası yanlış yazılmış bir rakam içeriyor',
      },
    ]);
  });

  it.each(['returnUrl', 'failUrl'])('refuses a card number in %s', (field) => {
    const input = { ...sampleInput(), [field]: `https://shop.example/${CARD.cardNo}` };
    expect(rulesOf(input)).toEqual([`${field} cardFree`]);
  });

  it.each([
    ...['1230', '12/30', '12 / 30', '12/ 30', '12/2030', '12 / 2030', '12\u00a0/\u00a030', ' 1230 '],
    ...['12-30', '12 \u2013 30', '12.30', '12. 2030', '12 30', '12 2030', '122030'],
  ])('reads an expiry as people type it: %j', (expDate) => {
    const input = { ...sampleInput(), cardDetails: { ...CARD, expDate } };
    expect(validateInput(DoPaymentDto, input, CHECKS).cardDetails.expDate).toBe('1230');
    expect(input.cardDetails.expDate).toBe(expDate);
  });

  it.each(['1/36', '1 / 36', '1-36', '1.36', '1 36', '1/2036', '01/36', '01/2036', '012036', '0136'])(
    'reads January without its zero where something parts it from the year: %j',
    (expDate) => {
      const input = { ...sampleInput(), cardDetails: { ...CARD, expDate } };
      expect(validateInput(DoPaymentDto, input, CHECKS).cardDetails.expDate).toBe('0136');
    },
  );

  it.each([
    ['cardDetails.cardNo', CARD.cardNo.slice(0, 12)],
    ['cardDetails.cvv', '0000'],
    ['transactionDetails.amount', 1],
    ['transactionDetails.amount', '000000000000000000001.5'],
    ['transactionDetails.installmentCount', 999],
    ['transactionDetails.installmentCount', 1],
    ['transactionDetails.currencyCode', 8],
    ['transactionDetails.currencyCode', 990],
    ['cardHolderInfo.buyerGsm', '+90 (555) 111-22-33'],
    ['cardHolderInfo.cardHolderName', 'Şükrü Ğıöç 👩‍💻'],
    ['cardHolderInfo.cardHolderName', 'a'],
    ['reference', 'x'.repeat(255)],
    ['returnUrl', 'https://shop.example'],
    ['extraParameter', {}],
    ['extraParameter.pfSubMerchantId', undefined],
    ['reference', undefined],
    ['returnUrl', 'HTTPS://şop.example:8443/a?b=c#d'],
  ])('takes %s that is %p', (path, value) => {
    expect(() => validateInput(DoPaymentDto, inputWith(path, value), { ...CHECKS, luhn: false })).not.toThrow();
  });

  it('names everything that is wrong at once', () => {
    const input = {
      cardDetails: { cardNo: 'x', expDate: '0125', pin: 1 },
      transactionDetails: [],
      cardHolderInfo: { cardHolderName: 'ADA', buyerGsm: 1 },
      reference: 1,
    };
    expect(rulesOf(input).sort()).toEqual([
      'cardDetails.cardNo cardNumber',
      'cardDetails.cvv isDefined',
      'cardDetails.expDate notExpired',
      'cardDetails.pin unknownField',
      'cardHolderInfo.buyerGsm phoneNumber',
      'reference text',
      'transactionDetails isObject',
    ]);
    expect(rulesOf({})).toEqual(['cardDetails isDefined', 'cardHolderInfo isDefined', 'transactionDetails isDefined']);
  });

  it('has a switch for Luhn', () => {
    const input = { ...sampleInput(), cardDetails: { ...CARD, cardNo: NON_LUHN } };
    expect(rulesOf(input)).toEqual(['cardDetails.cardNo luhn']);
    expect(() => validateInput(DoPaymentDto, input, { ...CHECKS, luhn: false })).not.toThrow();
    expect(rulesOf({ ...input, cardDetails: { ...CARD, cardNo: 'x' } }, { ...CHECKS, luhn: false })).toEqual([
      'cardDetails.cardNo cardNumber',
    ]);
  });

  it('judges the expiry by the given time: good until its month has ended everywhere', () => {
    const input = { ...sampleInput(), cardDetails: { ...CARD, expDate: '1226' } };
    const at = (now: string) => () => validateInput(DoPaymentDto, input, { luhn: true, now: new Date(now) });
    expect(at('2019-01-01T00:00:00Z')).not.toThrow();
    expect(at('2026-12-31T23:59:59Z')).not.toThrow();
    expect(at('2027-01-01T11:59:59.999Z')).not.toThrow();
    expect(at('2027-01-01T12:00:00Z')).toThrow(PaymentValidationError);
    expect(at('2099-01-01T12:00:00Z')).toThrow(PaymentValidationError);
  });

  it.each([
    [392, '100.5'],
    [392, 100.5],
    [949, '1.234'],
    [48, '1.2345'],
  ])('refuses more decimals than currency %d has', (currencyCode, amount) => {
    const input = { ...sampleInput(), transactionDetails: { amount, currencyCode } };
    expect(rulesOf(input)).toEqual(['transactionDetails.amount amountDecimals']);
  });

  it('leaves the input as it was, frozen or not, and shares nothing with it', () => {
    const input = fullInput();
    const before = structuredClone(input);
    Object.values(input).forEach((part) => Object.freeze(part));
    const result = validateInput(DoPaymentDto, Object.freeze(input), CHECKS);
    expect(input).toEqual(before);
    result.cardDetails.cvv = '000';
    expect(input).toEqual(before);
  });

  it('takes instances, the parts of which may be plain', () => {
    const instance = plainToInstance(DoPaymentDto, fullInput());
    expect(validateInput(DoPaymentDto, instance, CHECKS)).not.toBe(instance);
    const mixed = Object.assign(new DoPaymentDto(), sampleInput());
    expect(validateInput(DoPaymentDto, mixed, CHECKS).cardDetails).toBeInstanceOf(CardDetailsDto);
    expect(rulesOf(Object.assign(new DoPaymentDto(), sampleInput(), { cardDetails: { cardNo: '1' } }))).toContain(
      'cardDetails.cardNo cardNumber',
    );
    class OrderPayment extends DoPaymentDto {
      extra?: string;
    }
    expect(rulesOf(Object.assign(new OrderPayment(), sampleInput(), { extra: 'x' }))).toEqual(['extra unknownField']);
  });

  it.each<[string, (instance: DoPaymentDto) => unknown]>([
    ['JSON', (instance) => JSON.parse(JSON.stringify(instance)) as unknown],
    ['a masked copy', (instance) => instanceToPlain(instance)],
    ['a masked copy of a plain card', (instance) => ({ ...instance, cardDetails: { ...maskedCard(CARD) } })],
  ])('says of %s which setting to change', (_name, print) => {
    const error = errorOf(print(plainToInstance(DoPaymentDto, sampleInput())));
    expect(error.issues.map(({ path, rule }) => `${path} ${rule}`)).toEqual(['cardDetails masked']);
    expect(error.message).toContain('`transform: true`');
  });

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['a text', CARD.cardNo],
    ['a number', 7],
    ['an array', [sampleInput()]],
    ['a function', () => sampleInput()],
    ['a symbol', Symbol('x')],
  ])('refuses %s for an input', (_name, input) => expect(rulesOf(input)).toEqual(['input isObject']));

  it('never shows a name that may be data', () => {
    const error = errorOf({ ...sampleInput(), [CARD.cardNo]: 1, cardDetails: { ...CARD, [`cvv${CARD.cvv}`]: 1 } });
    expect(error.issues.map(({ path }) => path)).toEqual(['?', 'cardDetails.?']);
    expect(inspect(error)).not.toMatch(/792|5246/);
  });

  it('refuses __proto__ and pollutes nothing', () => {
    const input: unknown = JSON.parse('{"__proto__": {"polluted": 1}, "cardDetails": {"__proto__": {"polluted": 1}}}');
    expect(rulesOf(input)).toEqual(['__proto__ unknownField']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('survives getters, proxies, cycles, depth and size', () => {
    const thrower = { ...sampleInput() };
    Object.defineProperty(thrower, 'reference', {
      enumerable: true,
      get: () => {
        throw new Error(CARD.cardNo);
      },
    });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const cyclic = sampleInput();
    cyclic.cardDetails = cyclic;
    const deep = JSON.parse('{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)) as object;
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`a${index}`, index]));

    expect(rulesOf(thrower)).toEqual(['reference unreadable']);
    expect(inspect(errorOf(thrower))).not.toContain(CARD.cardNo);
    expect(rulesOf(proxy)).toEqual(['input unreadable']);
    expect(rulesOf({ ...sampleInput(), cardDetails: proxy })).toEqual(['cardDetails unreadable']);
    expect(rulesOf(cyclic)).toContain('cardDetails.cardNo isDefined');
    expect(rulesOf(deep)).toContain('a unknownField');
    expect(rulesOf({ ...sampleInput(), transactionDetails: deep })).toContain('transactionDetails.a unknownField');
    expect(rulesOf(wide)).toEqual(['input fieldCount']);
    expect(rulesOf({ ...sampleInput(), cardDetails: Buffer.alloc(100_000) })).toEqual(['cardDetails fieldCount']);
    expect(rulesOf(new Map(Object.entries(sampleInput())))).toContain('cardDetails isDefined');
  });

  it('calls no function of an input', () => {
    let calls = 0;
    const reference = () => `order-${(calls += 1)}`;
    expect(rulesOf({ ...sampleInput(), reference })).toEqual(['reference text']);
    expect(calls).toBe(0);
  });

  it('reads each field once, so that what was checked is what is used', () => {
    let reads = 0;
    const input = {
      ...sampleInput(),
      get reference() {
        reads += 1;
        return reads === 1 ? 'order-1' : CARD.cardNo;
      },
    };
    expect(validateInput(DoPaymentDto, input, CHECKS).reference).toBe('order-1');
    expect(reads).toBe(1);
  });

  it('throws nothing but PaymentValidationError, whatever it gets', () => {
    const fields = fc.constantFrom(...BAD.map(([path]) => path));
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      withBoxedValues: true,
    });
    const refused = (input: unknown): boolean => {
      try {
        validateInput(DoPaymentDto, input, CHECKS);
        return false;
      } catch (error) {
        expect(error).toBeInstanceOf(PaymentValidationError);
        expect((error as PaymentValidationError).issues.length).toBeGreaterThan(0);
        return true;
      }
    };
    fc.assert(
      fc.property(anything, (input) => expect(refused(input)).toBe(true)),
      { numRuns: 1000 },
    );
    // A field takes no other kind of value than those that it is meant for.
    const kindsOf = (path: string): string[] => {
      if (/\.(installmentCount|currencyCode)$/.test(path)) return ['number', 'undefined'];
      if (path.endsWith('.amount')) return ['number', 'string'];
      if (/(vftFlag|allowRepeat)$/.test(path)) return ['boolean', 'undefined'];
      return ['string', 'undefined'];
    };
    fc.assert(
      fc.property(fields, anything, (path, value) => {
        if (refused(inputWith(path, value))) return;
        if (path === 'extraParameter') expect(Object.keys(value ?? {})).toEqual([]);
        else expect(kindsOf(path)).toContain(typeof value);
      }),
      { numRuns: 2000 },
    );
  });

  it('shows no value of an input it refuses, nor a name that is none', () => {
    const text = fc.stringMatching(/^[0-9][0-9a-z]{7,19}$/);
    fc.assert(
      fc.property(fc.constantFrom(...BAD.map(([path]) => path)), text, (path, value) => {
        const input = inputWith(path, { [value]: value });
        expect(inspect(errorOf(input), { depth: 9 }).split('\n    at ')[0]).not.toContain(value);
      }),
    );
  });

  it('gives a card that prints itself masked', () => {
    const input = validateInput(DoPaymentDto, sampleInput(), CHECKS);
    for (const shown of [inspect(input), JSON.stringify(input), JSON.stringify(instanceToPlain(input))]) {
      expect(shown).toContain(MASKED);
      expect(shown).not.toMatch(/5246776356903508|792|1230/);
    }
  });
});

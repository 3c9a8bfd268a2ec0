import { inspect } from 'node:util';
import { instanceToPlain, plainToInstance } from 'class-transformer';
import fc from 'fast-check';
import { CardDetailsDto, maskedCard } from '../../lib/dto/card.dto.js';
import { DoPaymentDto, Init3dDto } from '../../lib/dto/sale.dto.js';
import { validateInput } from '../../lib/dto/validate-input.js';
import { PaymentValidationError, type ValidationIssue } from '../../lib/errors/payment-errors.js';
import { expectCases } from '../rigs/case-texts.js';
import { CARD, fullInput, MASKED, NON_LUHN, NOW, sampleInput } from './sample-input.js';

const CHECKS = { luhn: true, now: NOW };

/** null if the input is taken. */
function refusalOf(input: unknown, checks = CHECKS): PaymentValidationError | null {
  try {
    validateInput(DoPaymentDto, input, checks);
    return null;
  } catch (error) {
    if (error instanceof PaymentValidationError) return error;
    throw error;
  }
}

function errorOf(input: unknown, checks = CHECKS): PaymentValidationError {
  const error = refusalOf(input, checks);
  if (error === null) throw new Error('the input was taken');
  return error;
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

/** Fields of a kind, which take the same values. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  TEXTS: [
    ...['cardHolderInfo.cardHolderName', 'extraParameter.pfSubMerchantId', 'paymentMethod', 'language'],
    ...['paymentInstrumentType', 'conversationId', 'reference', 'idempotencyKey'],
  ],
  URLS: ['returnUrl', 'failUrl'],
  OBJECTS: ['cardDetails', 'transactionDetails', 'cardHolderInfo'],
  FLAGS: ['transactionDetails.vftFlag', 'allowRepeat'],
};
const OTHERS = [
  ...['cardDetails.cardNo', 'cardDetails.expDate', 'cardDetails.cvv', 'cardHolderInfo.buyerGsm', 'extraParameter'],
  ...['transactionDetails.transactionType', 'transactionDetails.installmentCount', 'transactionDetails.amount'],
  'transactionDetails.currencyCode',
];
const PATHS = [...Object.values(KINDS).flat(), ...OTHERS];

/** `reference "order-1"`: the paths of a field or a kind of fields, and a value; undefined if there is none. */
function fieldOf(input: string): [paths: readonly string[], value: unknown] {
  const [, path = '', json = ''] = /^(\S+) ?(.*)$/.exec(input) ?? [];
  const text = json.replace(/x…(\d+)/, (_, count: string) => 'x'.repeat(Number(count)));
  return [
    (Object.hasOwn(KINDS, path) && KINDS[path]) || [path],
    text === '' ? undefined : (JSON.parse(text) as unknown),
  ];
}

/** The one rule that a value breaks; null if it is taken. A refusal shows neither the value nor the card. */
function brokenRule(path: string, value: unknown): string | null {
  const error = refusalOf(inputWith(path, value));
  if (error === null) return null;
  expect(error.issues).toMatchObject([{ path, message: expect.stringMatching(/^[\w$][^$]{10,}$/) as string }]);
  const shown = [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: 9, showHidden: true })];
  if (typeof value === 'string' && value.trim().length >= 4) expect(shown.join()).not.toContain(value);
  expect(shown.join()).not.toContain(CARD.cardNo);
  return error.issues[0]!.rule;
}

function broken(input: string): string {
  const [paths, value] = fieldOf(input);
  const rules = paths.map((path) => [path, brokenRule(path, value) ?? 'taken'] as const);
  const [[, first] = ['', '']] = rules.slice(-1);
  const others = rules.filter(([, rule]) => rule !== first).map(([path, rule]) => `${path}: ${rule}`);
  return [first, ...others].join('; ');
}

/** What is told in both languages. */
function told(input: string): string {
  const [[path = ''], value] = fieldOf(input);
  const error = errorOf(inputWith(path, value));
  expect(error.issues).toEqual(error.issuesIn('en'));
  const lines = (['en', 'tr'] as const).flatMap((language) => error.issuesIn(language));
  return lines.map(({ field, rule, message }) => `${field}, ${rule}: ${message}`).join('\n');
}

/** A field of the card as it is read, which the input and an instance keep as it was. */
const typed = (field: 'cardNo' | 'expDate') => (text: string) => {
  const cardDetails = { ...CARD, [field]: JSON.parse(text) as string };
  const input = { ...sampleInput(), cardDetails };
  const instance = Object.assign(new DoPaymentDto(), input, {
    cardDetails: Object.assign(new CardDetailsDto(), cardDetails),
  });
  const read = validateInput(DoPaymentDto, input, CHECKS).cardDetails[field];
  expect(validateInput(DoPaymentDto, instance, CHECKS).cardDetails[field]).toBe(read);
  expect([input, instance]).toMatchObject([{ cardDetails }, { cardDetails: { ...cardDetails } }]);
  return read;
};

function amountIn(input: string): string {
  const [code = '', amount = ''] = input.split(' ');
  const transactionDetails = { amount: JSON.parse(amount) as string, currencyCode: Number(code) };
  return rulesIn({ ...sampleInput(), transactionDetails });
}

function rulesIn(input: object, checks = CHECKS): string {
  return refusalOf(input, checks) === null ? 'taken' : rulesOf(input, checks).join(', ');
}

describe('validateInput', () => {
  it('takes or refuses, reads and tells', () =>
    expectCases(import.meta.url, 'inputs.txt', {
      'A field of a payment': broken,
      'A card number as it is typed': typed('cardNo'),
      'An expiry as it is typed': typed('expDate'),
      'An amount in a currency': amountIn,
      'A card that is good until 12/26, at': (now) =>
        rulesIn({ ...sampleInput(), cardDetails: { ...CARD, expDate: '1226' } }, { luhn: true, now: new Date(now) }),
      'What it says': told,
    }));

  it('refuses what JSON cannot say as it refuses a list', () => {
    const odd = [Symbol('x'), 9n, NaN, Infinity, 1e21, () => ({}), new String(CARD.cardNo), new Boolean(true)];
    for (const path of PATHS) {
      const rule = brokenRule(path, []);
      expect([path, rule]).toEqual([path, expect.any(String)]);
      // Empty objects are objects.
      const wrong = path === 'extraParameter' || KINDS['OBJECTS']!.includes(path) ? odd.slice(0, -2) : odd;
      for (const value of wrong) expect([path, value, brokenRule(path, value)]).toEqual([path, value, rule]);
    }
  });

  it('finds the card number, as it is read, in another field', () => {
    const cardDetails = { ...CARD, cardNo: '5246 7763 5690 3508' };
    const input = { ...sampleInput(), cardDetails, reference: `card ${CARD.cardNo}` };
    expect(rulesOf(input)).toEqual(['reference cardFree']);
    expect(rulesOf({ ...input, cardDetails: { ...CARD, cardNo: '5246 7763 5690 3509' } })).toEqual([
      'cardDetails.cardNo luhn',
    ]);
    expect(inspect(validateInput(DoPaymentDto, { ...sampleInput(), cardDetails }, CHECKS))).toContain(MASKED);
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

  it('refuses for an input what is no object', () => {
    for (const input of [null, undefined, CARD.cardNo, 7, [sampleInput()], () => sampleInput(), Symbol('x')]) {
      expect(rulesOf(input)).toEqual(['input isObject']);
    }
  });

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
    fc.assert(
      fc.property(anything, (input) => expect(rulesOf(input)).not.toEqual([])),
      { numRuns: 1000 },
    );
  });

  it('shows no value of an input it refuses, nor a name that is none', () => {
    const text = fc.stringMatching(/^[0-9][0-9a-z]{7,19}$/);
    fc.assert(
      fc.property(fc.constantFrom(...PATHS), text, (path, value) => {
        const input = inputWith(path, { [value]: value });
        expect(inspect(errorOf(input), { depth: 9 }).split('\n    at ')[0]).not.toContain(value);
      }),
    );
  });
});

import { plainToInstance } from 'class-transformer';
import { IsIn, registerDecorator, validateSync } from 'class-validator';
import fc from 'fast-check';
import { CARD_CHECKS } from '../../lib/dto/card-details.dto.js';
import { copyInput } from '../../lib/dto/copy-input.js';
import { DoPaymentDto, Init3dDto } from '../../lib/dto/do-payment.dto.js';
import { obeysRules } from '../../lib/dto/obeys-rules.js';
import { fullInput, NON_LUHN, type SampleInput } from './sample-input.js';

const GROUPS = [CARD_CHECKS.luhn, 'none'];

function saysClassValidator(instance: object, group: string): boolean {
  const options = { whitelist: true, forbidNonWhitelisted: true, always: true, groups: [group] };
  return validateSync(instance, options).length === 0;
}

/** A value that some field may take, and many that none does. */
const value = fc.oneof(
  fc.constantFrom(undefined, null, '', ' ', 'x', true, false, 0, 1, 949, 1000, 1.5, -1, NaN, 10n, [], {}, [{}]),
  fc.constantFrom('149.90', '0', '0.001', '1e3', '12/36', '1236', '1336', '792', '79', NON_LUHN, '4508034508034509'),
  fc.constantFrom('https://shop.example/x', 'ftp://shop.example', '+90 555 111 22 33', '12', 'a\nb', '\ud800'),
  fc.string({ maxLength: 20 }),
  fc.constant(new Map([['a', 1]])),
  fc.constant(new Date()),
  fc.constant('x'.repeat(256)),
);
const name = fc.oneof(
  fc.constantFrom(...Object.keys(fullInput()), 'extra'),
  fc.constantFrom('cardNo', 'expDate', 'cvv', 'amount', 'currencyCode', 'installmentCount', 'buyerGsm', 'vftFlag'),
);
/** Up to four fields of a good input changed, at the top or in a part of it. */
const input = fc
  .array(fc.tuple(fc.option(fc.constantFrom('cardDetails', 'transactionDetails', 'cardHolderInfo')), name, value), {
    maxLength: 4,
  })
  .map((changes) => {
    const changed = fullInput();
    for (const [part, field, to] of changes) {
      const owner = part === null ? changed : changed[part];
      if (typeof owner === 'object' && owner !== null) (owner as SampleInput)[field] = to;
    }
    return changed;
  });

describe.each([DoPaymentDto, Init3dDto])('whether a %p obeys its rules', (type) => {
  it.each(GROUPS)('is what class-validator says, with the group %s', (group) => {
    let good = 0;
    fc.assert(
      fc.property(input, (given) => {
        const instance = plainToInstance<DoPaymentDto, object>(type, copyInput(given));
        const expected = saysClassValidator(instance, group);
        good += Number(expected);
        expect(obeysRules(instance, group)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
    expect(good).toBeGreaterThan(50);
  });
});

it('asks no rule of a host’s that answers later: class-validator leaves these out, too', () => {
  class OfAHost {
    cardNo = '4508034508034509';
  }
  let asked = 0;
  const validate = (): Promise<boolean> => {
    asked += 1;
    return Promise.resolve(false);
  };
  registerDecorator({ target: OfAHost, propertyName: 'cardNo', async: true, validator: { validate } });
  expect(saysClassValidator(new OfAHost(), 'none')).toBe(true);
  expect(obeysRules(new OfAHost(), 'none')).toBe(true);
  expect(asked).toBe(0);
});

it('is left to class-validator where a rule is of a kind that no class here has', () => {
  class OfAHost {
    @IsIn(['a'], { each: true })
    letters = ['a'];
  }
  expect(obeysRules(new OfAHost(), 'none')).toBe(false);
  expect(obeysRules({}, 'none')).toBe(false);
});

import { copyInput, fieldPath } from '../../lib/dto/validate-input.js';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';

function refusalOf(input: unknown): string[] {
  try {
    copyInput(input);
  } catch (error) {
    if (error instanceof PaymentValidationError) return error.issues.map(({ path, rule }) => `${path} ${rule}`);
    throw error;
  }
  throw new Error('not refused');
}

describe('copyInput', () => {
  it('copies plain fields and those of its parts, and shares nothing', () => {
    const input = { text: 'x', part: { number: 1, flag: false, nothing: null } };
    const copy = copyInput(input) as typeof input;
    expect(copy).toEqual(input);
    expect(copy).not.toBe(input);
    expect(copy.part).not.toBe(input.part);
  });

  it('leaves out what is undefined', () => {
    expect(Object.keys(copyInput({ text: undefined }))).toEqual([]);
  });

  it('makes an empty array of whatever no field can be', () => {
    const deep = { part: { deeper: { deepest: 1 } } };
    expect(copyInput({ list: [1, 2], run: () => 1, ...deep })).toEqual({ list: [], run: [], part: { deeper: [] } });
  });

  it('reads each field once', () => {
    let reads = 0;
    const copy = copyInput({
      get field() {
        reads += 1;
        return reads;
      },
    });
    expect(copy).toEqual({ field: 1 });
    expect(reads).toBe(1);
  });

  it.each([null, undefined, 'x', 7, [], () => ({})])('refuses %p', (input) => {
    expect(refusalOf(input)).toEqual(['input isObject']);
  });

  it('refuses what cannot be read, has too many fields, or names that class-transformer would drop', () => {
    const throwing = {
      get reference(): string {
        throw new Error('x');
      },
    };
    expect(refusalOf(throwing)).toEqual(['reference unreadable']);
    const wide = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`a${index}`, index]));
    expect(refusalOf(wide)).toEqual(['input fieldCount']);
    expect(refusalOf({ part: { toJSON: 1 } })).toEqual(['part.toJSON unknownField']);
    expect(refusalOf(JSON.parse('{"__proto__": 1}'))).toEqual(['__proto__ unknownField']);
  });
});

it.each([
  ['', 'cardDetails', 'cardDetails'],
  ['cardDetails', 'cvv2', 'cardDetails.cvv2'],
  ['cardDetails', '5246776356903508', 'cardDetails.?'],
  ['', 'cvv792', '?'],
])('below %p the path of %p is %p', (parent, name, path) => expect(fieldPath(parent, name)).toBe(path));

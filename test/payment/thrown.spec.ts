import { describeHostError, describeThrown, Masker } from '../../lib/payment/kept-text.js';

const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
const SECRET = 'c2VjcmV0LW9mLXRoZS1zaG9w';
const KEY = 'an-api-key/with+signs;and more';
const cardHolderInfo = { cardHolderName: 'Ada', buyerGsm: '905321234567' };
const masker = new Masker([SECRET, KEY], { cardDetails: CARD, cardHolderInfo });
const nobody = new Masker([]);

describe('what the host’s code threw', () => {
  const thrownAt = (error: Error, ...lines: string[]): Error => {
    error.stack = [String(error), ...lines.map((line) => `    at ${line}`)].join('\n');
    return error;
  };
  const HERE = 'Orders.paid (/shop/dist/orders.js:4:5)';

  it('is told by its name, its message, its cause, and the places in the host’s files', () => {
    const error = new TypeError(`card ${CARD.cardNo}, 792`, { cause: new RangeError('no route to Ada') });
    const paths = [
      'async Orders.paid (/shop/dist/orders.js:4:5)',
      `file://${process.cwd()}/app/a.js:1:2`,
      'node:internal/timers:1:1',
      'run (/shop/node_modules/x/y.js:1:1)',
      'a (<anonymous>:1:1)',
      'two (/b.js:1:1)',
      'three (/c.js:1:1)',
    ];
    expect(describeThrown(thrownAt(error, ...paths), masker)).toEqual({
      error: 'TypeError: card ***, ***; cause: RangeError: no route to ***',
      at: [HERE, 'app/a.js:1:2', 'two (/b.js:1:1)'],
    });
    const said = new Error(`${SECRET}: ${CARD.cardNo.slice(4)}, 5246 7763`);
    expect(describeHostError(thrownAt(said, HERE), { clientSecret: SECRET, apiKey: null })).toEqual({
      error: 'Error: ***: ************, **** ****',
      at: [HERE],
    });
  });

  it('takes no line of its message for a place', () => {
    const message = `refused\n    at https://kms/${SECRET}:1:1`;
    expect(describeThrown(thrownAt(new Error(message), HERE), nobody).at).toEqual([HERE]);
    expect(describeThrown(thrownAt(new Error(), HERE), nobody)).toEqual({ error: 'Error:', at: [HERE] });
  });

  it('has no place that holds a secret', () => {
    const places = [
      `Object.${KEY} (/a.js:1:1)`,
      `Object.x${SECRET} (/b.js:1:1)`,
      'Object.4508034508034509 (/c.js:1:1)',
    ];
    expect(describeThrown(thrownAt(new Error('x'), ...places), masker).at).toEqual(['Object.*** (/c.js:1:1)']);
    const spaced = thrownAt(new Error('x'), 'card 4508-0345 0803.4509:1234:12345');
    expect(describeThrown(spaced, masker).at).toEqual(['card ***:1234:12345']);
  });

  it.each<unknown>([
    'text',
    undefined,
    { message: CARD.cardNo },
    Object.assign(new Error(), { message: 5 }),
    Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error(CARD.cardNo);
      },
    }),
  ])('may be anything', (thrown) => {
    const { error } = describeThrown(thrown, nobody);
    expect(error).toMatch(/^(?:threw something that is no Error|Error: \*)$/);
  });
});

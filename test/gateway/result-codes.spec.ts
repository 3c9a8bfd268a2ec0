import { RESULT_TEXTS } from '../../lib/gateway/result-codes.js';
import { PUBLIC_CODES } from './public-codes.js';

describe('the result codes', () => {
  it('are those of the public list, with its texts', () => {
    expect(PUBLIC_CODES).toHaveLength(89);
    expect(RESULT_TEXTS).toEqual(Object.fromEntries(PUBLIC_CODES.map(([code, en, tr]) => [code, { en, tr }])));
  });
});

import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { cpuMs } from '../../rigs/cpu-time.js';

// Apart from the others, since code that is instrumented, for mutation, is too slow for its limit.
describe('the fields of a large reply', () => {
  it.each<[string, string]>([
    ['numbers', '{"a":[1' + ',1'.repeat(500_000) + ']}'],
    ['texts', '{"a":[""' + ',""'.repeat(340_000) + ']}'],
    ['objects', '{"a":[{}' + ',{}'.repeat(340_000) + ']}'],
    ['colons', '{"' + 'a'.repeat(500_000) + '\\u0062"' + ':'.repeat(500_000) + '1}'],
    ['levels', '{"a":' + '['.repeat(500_000) + ']'.repeat(500_000) + '}'],
    ['names', '{' + Array.from({ length: 90_000 }, (_, index) => `"k${index}":1`).join() + '}'],
  ])('are not read out of a mebibyte of %s, which would hold up the event loop', (_what, text) => {
    const times = [1, 2, 3].map(() => {
      const began = cpuMs();
      expect(ReplyFields.parse(text)).toBeNull();
      return cpuMs() - began;
    });
    expect(Math.min(...times)).toBeLessThan(100);
  });
});

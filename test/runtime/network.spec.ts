import { trimSlashes } from '../../lib/runtime/network.js';

describe('slashes', () => {
  it.each([
    ['/a/b/', 'a/b'],
    ['a', 'a'],
    ['//', ''],
    ['', ''],
  ])('%j', (path, trimmed) => {
    expect(trimSlashes(path)).toBe(trimmed);
  });
});

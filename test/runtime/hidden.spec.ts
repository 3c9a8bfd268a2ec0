import { inspect } from 'node:util';
import { Hidden, withHidden } from '../../lib/runtime/hidden.js';

const SECRET = 'a-secret-that-nobody-prints';
const PRINTED = [
  ['inspect', (value: unknown) => inspect(value, { depth: Infinity, showHidden: true, getters: true })],
  ['JSON', (value: unknown) => JSON.stringify(value)],
  ['keys and values', (value: object) => JSON.stringify(Object.entries(value))],
  ['a copy', (value: object) => inspect({ ...value }, { depth: Infinity, showHidden: true, getters: true })],
] as const;

describe('a hidden value', () => {
  it('is there for whoever asks for it', () => {
    expect(new Hidden(SECRET).reveal()).toBe(SECRET);
  });

  it.each(PRINTED)('is not in what is printed: %s', (_how, print) => {
    expect(print({ inside: [new Hidden({ SECRET })] })).not.toContain(SECRET);
  });
});

describe('an object with hidden properties', () => {
  const shown = { name: 'shop', nested: { deep: { deeper: { deepest: 1 } } } };
  const hidden = { secret: SECRET };
  const whole = withHidden(shown, hidden);

  it('follows what it hides, and leaves what it shows as it was', () => {
    const changing = { secret: 'one' };
    const over = withHidden(shown, changing);
    changing.secret = 'two';
    expect(over.secret).toBe('two');
    expect(shown).not.toHaveProperty('secret');
  });

  it.each(PRINTED)('prints what it shows, and no more: %s', (_how, print) => {
    const text = print(whole);
    expect(text).toContain('shop');
    expect(text).not.toContain(SECRET);
    expect(text).not.toMatch(/secret:|"secret"|get/i);
  });
});

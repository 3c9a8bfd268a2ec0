import '../../sample/starter/test/payment-settings.js';
import '../../sample/starter/src/checkout/order.service.spec.js';
import '../../sample/starter/test/checkout.e2e-spec.js';
import * as english from '../../sample/starter/src/checkout/texts.js';
import * as turkish from '../../sample/starter/src/checkout/texts.tr.js';

// What a browser makes of its pages, also on Fastify and behind a pipe, is in test/browser/guide.spec.ts.
it('the starter has the same texts in both languages', () => {
  const shapeOf = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return typeof value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shapeOf(part)]));
  };
  expect(shapeOf(turkish.TEXTS)).toEqual(shapeOf(english.TEXTS));
  expect([english.LANGUAGE, turkish.LANGUAGE]).toEqual(['en', 'tr']);
  expect(turkish.TEXTS.amount('149.90')).toBe('149,90 TL');
});

import { routeOf } from '../../lib/options/payment-options.js';

describe('the route of the built-in controller', () => {
  it('is payments, or for a named account one below it, with 25 seconds to wait', () => {
    expect(routeOf({})).toEqual({ path: 'payments', waitMs: 25_000 });
    expect(routeOf({ name: 'eu' })).toEqual({ path: 'payments/eu', waitMs: 25_000 });
  });

  it('is what the structure says', () => {
    const callback = { path: '/pay/back/', waitMs: 0 };
    expect(routeOf({ callback })).toEqual({ path: 'pay/back', waitMs: 0 });
    expect(routeOf({ callback, name: 'eu' })).toEqual({ path: 'pay/back', waitMs: 0 });
  });

  it('has no path where the callback is off', () => {
    expect(routeOf({ callback: false, name: 'eu' }).path).toBeNull();
  });
});

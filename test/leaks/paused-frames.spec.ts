import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface Watched {
  /** How each payment ended. */
  readonly outcomes: Readonly<Record<string, string>>;
  /** The functions that were on the stack when something was thrown. */
  readonly stops: readonly string[];
  /** Those of their variables that lead to the card. */
  readonly leaks: readonly string[];
}

test('when an error is thrown, no function of the module on the stack still holds the card', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['test/leaks/paused-shop.mjs'], { timeout: 50_000 });
  const { outcomes, stops, leaks } = JSON.parse(stdout) as Watched;

  const refused = [
    'mistyped number',
    'expired card',
    'wrong code',
    'unknown field',
    'forbidden field',
    'too many fields',
  ];
  refused.push('list', 'masked card', 'card in a text', 'wrong amount', 'no addresses');
  const both = (name: string, code: string) => ({ [`${name}, doPayment`]: code, [`${name}, init3d`]: code });
  expect(outcomes).toEqual({
    ...Object.assign({}, ...refused.map((name) => both(name, 'PAYMENT_VALIDATION'))),
    'good, doPayment': 'succeeded',
    'good, init3d': 'started',
    ...both('other sale', 'PAYMENT_DUPLICATE'),
    'reference taken, init3d': 'PAYMENT_INIT3D',
    'declined start, init3d': 'PAYMENT_INIT3D',
    'unreadable, doPayment': 'unknown',
    'unreadable, init3d': 'PAYMENT_INIT3D',
    ...both('overload', 'PAYMENT_OVERLOAD'),
    ...both('shut down', 'PAYMENT_SHUTDOWN'),
    ...both('no gateway', 'PAYMENT_NOT_SENT'),
    ...both('no insert', 'PAYMENT_STORE'),
    'no replace, doPayment': 'succeeded',
    'no replace, init3d': 'PAYMENT_STORE',
  });

  const planted = (text: string) => text.includes('plantedLeak');
  expect(stops.filter((stop) => !planted(stop)).length).toBeGreaterThan(2 * Object.keys(outcomes).length);
  expect(leaks.filter(planted)).not.toEqual([]);
  expect(leaks.filter((leak) => !planted(leak))).toEqual([]);
});

import { retryWhileBusy } from '../../../lib/store/sql/retry.js';

const BUSY = new Error('busy');
const isBusy = (error: unknown) => error === BUSY;

test('tries until nothing is in the way', async () => {
  let tries = 0;
  const attempt = () => ((tries += 1) < 4 ? Promise.reject(BUSY) : Promise.resolve('done'));
  await expect(retryWhileBusy(isBusy, attempt)).resolves.toBe('done');
  expect(tries).toBe(4);
});

test('gives any other failure at once', async () => {
  let tries = 0;
  const attempt = () => Promise.reject(new Error(`failure ${(tries += 1)}`));
  await expect(retryWhileBusy(isBusy, attempt)).rejects.toThrow(/^failure 1$/);
});

test('gives up after ten seconds', async () => {
  const { now } = performance;
  let ahead = 0;
  performance.now = () => now.call(performance) + ahead;
  try {
    const attempt = () => {
      ahead += 6_000;
      return Promise.reject(BUSY);
    };
    await expect(retryWhileBusy(isBusy, attempt)).rejects.toBe(BUSY);
    expect(ahead).toBe(12_000);
  } finally {
    performance.now = now;
  }
});

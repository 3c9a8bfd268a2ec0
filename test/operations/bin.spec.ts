import { TestShop } from './test-shop.js';

it('the answers about a thousand cards are kept, the newest ones', async () => {
  const shop = new TestShop();
  const { payments } = await shop.start();
  const isAsked = async (number: number): Promise<boolean> => {
    const before = shop.gateway.requests.length;
    await payments.checkBin(String(450_000 + number));
    return shop.gateway.requests.length > before;
  };
  for (let number = 0; number < 1_001; number += 1) expect(await isAsked(number)).toBe(true);
  // The first was forgotten; now the second is.
  const again = [];
  for (const number of [1, 1_000, 0, 2, 1]) again.push(await isAsked(number));
  expect(again).toEqual([false, false, true, false, true]);
  await shop.clock.advance(60_000);
  // Asked about anew, the third is not the oldest any more.
  const later = [];
  for (const number of [3, 2_000, 3]) later.push(await isAsked(number));
  expect(later).toEqual([true, true, false]);
});

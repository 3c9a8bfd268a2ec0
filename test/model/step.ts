import { type ChargePlay, HANGING, type InitPlay, type RefundPlay } from './model-gateway.js';
import type { PaymentModel } from './payment-model.js';
import type { Shop } from './shop-instance.js';
import { expectAgreement } from './agreement.js';

/** One step, done by the shop and by the model alike. */
export abstract class Step {
  abstract act(model: PaymentModel, shop: Shop): Promise<void>;

  async run(model: PaymentModel, shop: Shop): Promise<void> {
    await this.act(model, shop);
    await expectAgreement(model, shop);
  }

  toString(): string {
    return `${this.constructor.name} ${JSON.stringify(this)}`;
  }
}

/** The circumstances of an answer that comes now. */
export function heard(shop: Shop): { now: number; isDown: boolean } {
  return { now: now(shop), isDown: shop.gateway.isDown };
}

export function now(shop: Shop): number {
  return shop.clock.now().getTime();
}

/** One of them, by any number; undefined if there is none. */
export function pick<T>(some: readonly T[], which: number): T | undefined {
  return some[some.length === 0 ? 0 : which % some.length];
}

/** @returns null when the request hangs: the instance is given up then */
export async function seeOrCrash<T>(
  shop: Shop,
  id: string,
  play: ChargePlay | InitPlay | RefundPlay,
  work: Promise<T>,
): Promise<PromiseSettledResult<T> | null> {
  if (!HANGING.includes(play)) return shop.see(work);
  shop.zombies.set(id, Promise.allSettled([work]));
  await shop.gateway.hangs();
  await shop.restart();
  return null;
}

export function expectState(result: PromiseSettledResult<{ state: string }>, state: string): void {
  expect(result).toMatchObject({ status: 'fulfilled', value: { state, stored: true } });
}

export function expectError(result: PromiseSettledResult<unknown>, type: new (...args: never[]) => Error): void {
  expect(result.status === 'rejected' && result.reason).toBeInstanceOf(type);
}

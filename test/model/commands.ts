import fc from 'fast-check';
import {
  PaymentCallbackError,
  PaymentDuplicateError,
  PaymentInit3dError,
  PaymentNotSentError,
  PaymentStateError,
} from 'nestjs-card-payment';
import { sale as makeSale } from '../rigs/sale.js';
import { CHARGE_PLAYS, type ChargePlay, HANGING, INIT_PLAYS, type InitPlay } from './model-gateway.js';
import type { ModelPayment, ModelSale, PaymentModel } from './payment-model.js';
import type { Shop } from './shop-instance.js';
import { expectAgreement } from './agreement.js';

/** The input of a sale; `again` takes the id of an earlier payment. */
interface Ask {
  readonly reference: string | null;
  readonly allowRepeat: boolean;
  readonly idempotencyKey: string | null;
  readonly amount: string;
  readonly again: number | null;
}

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

class Pay extends Step {
  constructor(
    private readonly ask: Ask,
    private readonly play: ChargePlay,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const sale = saleOf(this.ask, 'direct', model);
    const twin = twinOf(sale, model);
    shop.gateway.play = this.play;
    const work = shop.payments.doPayment(inputOf(sale));
    if (twin) {
      const result = await shop.see(work);
      if (twin === 'other') return expectError(result, PaymentDuplicateError);
      return expectState(result, twin.state);
    }
    if (model.isHeld(sale)) {
      model.open(sale, now(shop), 'failed', 'reference_taken');
      return expectState(await shop.see(work), 'failed');
    }
    const payment = model.open(sale, now(shop), 'charging');
    const result = await seeOrCrash(shop, payment, this.play, work);
    if (!result) return;
    model.answered(payment, this.play, heard(shop));
    if (this.play === 'notSent') expectError(result, PaymentNotSentError);
    else expectState(result, payment.state);
  }
}

class Init3d extends Step {
  constructor(
    private readonly ask: Ask,
    private readonly play: InitPlay,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const sale = saleOf(this.ask, '3d', model);
    const isTaken = twinOf(sale, model) !== null;
    const isBusy = model.isBusy(sale);
    shop.gateway.play = this.play;
    const work = shop.payments.init3d(inputOf(sale));
    if (isTaken) return expectError(await shop.see(work), PaymentDuplicateError);
    const payment = model.open(sale, now(shop), 'initiating');
    if (isBusy) {
      model.move(payment, 'failed', 'reference_taken');
      return expectError(await shop.see(work), PaymentInit3dError);
    }
    const result = await seeOrCrash(shop, payment, this.play, work);
    if (!result) return;
    switch (this.play) {
      case 'page':
        return model.move(payment, 'awaiting');
      case 'notSent':
        model.move(payment, 'failed', 'not_sent');
        return expectError(result, PaymentNotSentError);
      case 'refuse':
      case 'lost':
      case 'hang':
        model.move(payment, 'failed', this.play === 'lost' ? 'no_answer' : 'declined');
        return expectError(result, PaymentInit3dError);
    }
  }
}

class Callback extends Step {
  constructor(
    private readonly which: number,
    private readonly play: ChargePlay,
    private readonly copies: number,
    private readonly kind: 'true' | 'foreign' | 'vetoed',
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const payment = pick(model, this.which);
    if (!payment) return;
    const { conversationId } = payment.sale;
    const fields = { Code: 'B0000', conversationId: this.kind === 'foreign' ? 'ANOTHER' : conversationId };
    const isOver = now(shop) >= payment.expiresAt;
    shop.gateway.play = this.play;
    shop.isVetoing = this.kind === 'vetoed';
    const work = Promise.all(
      Array.from({ length: this.copies }, () => shop.payments.auth3d({ conversationId, fields })),
    ).then(([first]) => first!);

    if (payment.sale.kind === 'direct' || payment.state === 'initiating') {
      return expectError(await shop.see(work), PaymentStateError);
    }
    if (payment.state !== 'awaiting') return expectState(await shop.see(work), payment.state);
    if (isOver) model.move(payment, 'expired');
    else if (this.kind === 'foreign') return expectError(await shop.see(work), PaymentCallbackError);
    else if (this.kind === 'vetoed') model.move(payment, 'failed', 'vetoed');
    else if (model.isHeld(payment.sale)) model.move(payment, 'failed', 'reference_taken');
    else {
      model.move(payment, 'authorizing');
      payment.claimedAt = now(shop);
      const result = await seeOrCrash(shop, payment, this.play, work);
      if (!result) return;
      model.answered(payment, this.play, heard(shop));
      return expectState(result, payment.state);
    }
    expectState(await shop.see(work), payment.state);
  }
}

class Wait extends Step {
  constructor(private readonly minutes: number) {
    super();
  }

  async act(_model: PaymentModel, shop: Shop): Promise<void> {
    shop.gateway.play = 'approve';
    await shop.clock.advance(this.minutes * 60_000);
  }
}

class Inquire extends Step {
  constructor(
    private readonly which: number,
    private readonly isDown: boolean,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const payment = pick(model, this.which);
    if (!payment) return;
    shop.gateway.isDown = this.isDown;
    const result = await shop.see(shop.payments.inquire(payment.sale.conversationId));
    if (payment.state === 'initiating' || payment.state === 'awaiting') return expectError(result, PaymentStateError);
    if (!this.isDown) inquired(model, shop, payment);
    expectState(result, payment.state);
  }
}

/** An operator settles a payment after a look at the bank's statement. */
class Resolve extends Step {
  constructor(private readonly which: number) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const payment = pick(model, this.which);
    if (!payment) return;
    const { conversationId } = payment.sale;
    const word = shop.gateway.isCharged(conversationId) ? 'succeeded' : 'failed';
    const result = await shop.see(shop.payments.resolve(conversationId, word, 'the bank’s books'));
    const isOpen = payment.state === 'unknown' || payment.state === 'review';
    const isTooSoon = word === 'failed' && model.isForced(payment, now(shop));
    if (!isOpen || isTooSoon) return expectError(result, PaymentStateError);
    model.move(payment, word, 'operator');
    expectState(result, word);
  }
}

class Reconcile extends Step {
  async act(model: PaymentModel, shop: Shop): Promise<void> {
    await reconcile(model, shop);
  }
}

class Crash extends Step {
  async act(_model: PaymentModel, shop: Shop): Promise<void> {
    await shop.restart();
  }
}

/** The gateway answers an instance that had been given up. */
class AnswerLate extends Step {
  constructor(private readonly which: number) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const hanging = [...shop.gateway.hanging];
    if (hanging.length === 0) return;
    const [conversationId, answer] = hanging[this.which % hanging.length]!;
    const payment = model.find(conversationId)!;
    const play = shop.gateway.plays.get(conversationId);
    shop.gateway.hanging.delete(conversationId);
    answer();
    await shop.see(shop.zombies.get(conversationId)!);
    if (play === 'hang') shop.gateway.plays.set(conversationId, 'decline');
    if (play !== undefined && HANGING.includes(play)) model.answered(payment, play, heard(shop));
    else if (payment.state === 'initiating') model.move(payment, 'awaiting');
  }
}

const ask = fc.record({
  reference: fc.constantFrom('order-1', 'order-1', 'order-2', null),
  allowRepeat: fc.constantFrom(false, false, false, true),
  idempotencyKey: fc.constantFrom(null, null, 'key-1', 'key-2'),
  amount: fc.constantFrom('10.00', '10.00', '20.00'),
  again: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(9) }),
});
const play = fc.oneof({ weight: 2, arbitrary: fc.constant('approve' as const) }, fc.constantFrom(...CHARGE_PLAYS));
const initPlay = fc.oneof({ weight: 3, arbitrary: fc.constant('page' as const) }, fc.constantFrom(...INIT_PLAYS));
const which = fc.nat(9);

const steps = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(ask, play).map((args) => new Pay(...args)) },
  { weight: 3, arbitrary: fc.tuple(ask, initPlay).map((args) => new Init3d(...args)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(which, play, fc.constantFrom(1, 1, 3), fc.constantFrom('true', 'true', 'true', 'foreign', 'vetoed'))
      .map(([payment, said, copies, kind]) => new Callback(payment, said, copies, kind as 'true')),
  },
  { weight: 2, arbitrary: fc.constantFrom(0.1, 2, 5, 11, 61, 300).map((minutes) => new Wait(minutes)) },
  { weight: 2, arbitrary: fc.tuple(which, fc.boolean()).map((args) => new Inquire(...args)) },
  { weight: 1, arbitrary: which.map((index) => new Resolve(index)) },
  { weight: 2, arbitrary: fc.constant(null).map(() => new Reconcile()) },
  { weight: 1, arbitrary: fc.constant(null).map(() => new Crash()) },
  { weight: 1, arbitrary: which.map((index) => new AnswerLate(index)) },
);

/** Everything that a merchant, a buyer, an operator and a gateway can do, and crashes, in any order. */
export const SEQUENCES: fc.Arbitrary<Step[]> = fc.array<Step>(steps, { maxLength: 30, size: 'max' });

/** A pass of the background work, after which handlers have heard every event. */
export async function reconcile(model: PaymentModel, shop: Shop): Promise<void> {
  shop.gateway.isDown = false;
  const at = shop.clock.now();
  // The module chooses the times at random: the store knows what is due.
  const due = (await shop.records()).filter(({ dueAt }) => dueAt !== null && dueAt <= at);
  await shop.see(shop.payments.reconcile());
  for (const { conversationId } of due) {
    const payment = model.find(conversationId)!;
    if (payment.state === 'initiating' || payment.state === 'awaiting') {
      if (at.getTime() >= payment.expiresAt) model.move(payment, 'expired');
    } else {
      if (payment.state !== 'unknown') model.move(payment, 'unknown', 'interrupted');
      inquired(model, shop, payment);
    }
  }
  expect([...shop.told].sort()).toEqual(model.payments.flatMap(({ events }) => events).sort());
}

/** The circumstances of an answer that comes now. */
function heard(shop: Shop): { now: number; isDown: boolean } {
  return { now: now(shop), isDown: shop.gateway.isDown };
}

function now(shop: Shop): number {
  return shop.clock.now().getTime();
}

function pick({ payments }: PaymentModel, which: number): ModelPayment | undefined {
  return payments[payments.length === 0 ? 0 : which % payments.length];
}

function inquired(model: PaymentModel, shop: Shop, payment: ModelPayment): void {
  const { conversationId } = payment.sale;
  const isCharged = shop.gateway.isCharged(conversationId);
  model.inquired(payment, shop.gateway.plays.get(conversationId), isCharged, now(shop));
}

function saleOf({ again, ...asked }: Ask, kind: ModelSale['kind'], model: PaymentModel): ModelSale {
  const earlier = again === null ? undefined : pick(model, again);
  const fresh = `PAY${String(model.payments.length).padStart(17, '0')}`;
  return { ...asked, kind, conversationId: earlier?.sale.conversationId ?? fresh };
}

/** The payment that has the id or key already; `other` where that is not the same sale. */
function twinOf(sale: ModelSale, model: PaymentModel): ModelPayment | 'other' | null {
  const byId = model.find(sale.conversationId);
  const byKey = model.withKey(sale.idempotencyKey);
  const twin = byKey ?? byId;
  if (!twin) return null;
  const isSame = (['kind', 'reference', 'amount'] as const).every((name) => twin.sale[name] === sale[name]);
  return isSame && (!byId || !byKey || byId === byKey) ? twin : 'other';
}

function inputOf({ conversationId, reference, allowRepeat, idempotencyKey, amount }: ModelSale) {
  return makeSale(amount, {
    conversationId,
    reference: reference ?? undefined,
    allowRepeat,
    idempotencyKey: idempotencyKey ?? undefined,
  });
}

/** @returns null when the request hangs: the instance is given up then */
async function seeOrCrash<T>(
  shop: Shop,
  { sale }: ModelPayment,
  play: ChargePlay | InitPlay,
  work: Promise<T>,
): Promise<PromiseSettledResult<T> | null> {
  if (!HANGING.includes(play)) return shop.see(work);
  shop.zombies.set(sale.conversationId, Promise.allSettled([work]));
  await shop.gateway.hangs();
  await shop.restart();
  return null;
}

function expectState(result: PromiseSettledResult<{ state: string }>, state: string): void {
  expect(result).toMatchObject({ status: 'fulfilled', value: { state, stored: true } });
}

function expectError(result: PromiseSettledResult<unknown>, type: new (...args: never[]) => Error): void {
  expect(result.status === 'rejected' && result.reason).toBeInstanceOf(type);
}

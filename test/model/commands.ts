import {
  PaymentCallbackError,
  PaymentDuplicateError,
  PaymentInit3dError,
  PaymentNotSentError,
  PaymentStateError,
} from 'nestjs-card-payment';
import { sale as makeSale } from '../rigs/sale.js';
import { type ChargePlay, HANGING, type InitPlay } from './model-gateway.js';
import type { ModelPayment, ModelSale } from './model-payment.js';
import type { PaymentModel } from './payment-model.js';
import { answerLate, inquiredRefund } from './refund-commands.js';
import type { Shop } from './shop-instance.js';
import { expectError, expectState, heard, now, pick, seeOrCrash, Step } from './step.js';

/** The input of a sale; `again` takes the id of an earlier payment or refund. */
export interface Ask {
  readonly reference: string | null;
  readonly allowRepeat: boolean;
  readonly idempotencyKey: string | null;
  readonly amount: string;
  readonly again: number | null;
}

export class Pay extends Step {
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
    const result = await seeOrCrash(shop, payment.id, this.play, work);
    if (!result) return;
    model.answered(payment, this.play, heard(shop));
    if (this.play === 'notSent') expectError(result, PaymentNotSentError);
    else expectState(result, payment.state);
  }
}

export class Init3d extends Step {
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
    const result = await seeOrCrash(shop, payment.id, this.play, work);
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

export class Callback extends Step {
  constructor(
    private readonly which: number,
    private readonly play: ChargePlay,
    private readonly copies: number,
    private readonly kind: 'true' | 'foreign' | 'vetoed',
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const payment = pick(model.payments, this.which);
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
      const result = await seeOrCrash(shop, payment.id, this.play, work);
      if (!result) return;
      model.answered(payment, this.play, heard(shop));
      return expectState(result, payment.state);
    }
    expectState(await shop.see(work), payment.state);
  }
}

export class Wait extends Step {
  constructor(private readonly minutes: number) {
    super();
  }

  async act(_model: PaymentModel, shop: Shop): Promise<void> {
    shop.gateway.play = 'approve';
    await shop.clock.advance(this.minutes * 60_000);
  }
}

export class Inquire extends Step {
  constructor(
    private readonly which: number,
    private readonly isDown: boolean,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const payment = pick(model.payments, this.which);
    if (!payment) return;
    shop.gateway.isDown = this.isDown;
    const result = await shop.see(shop.payments.inquire(payment.sale.conversationId));
    if (payment.state === 'initiating' || payment.state === 'awaiting') return expectError(result, PaymentStateError);
    if (!this.isDown) inquired(model, shop, payment);
    expectState(result, payment.state);
  }
}

/** An operator settles a payment after a look at the bank's statement. */
export class Resolve extends Step {
  constructor(
    private readonly which: number,
    /** Whether the operator does not see what was charged once it was given back. */
    private readonly isMistaken: boolean,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const payment = pick(model.payments, this.which);
    if (!payment) return;
    const { conversationId } = payment.sale;
    const isRefused = this.isMistaken && model.refunds.isGivenBack(payment);
    const word = shop.gateway.isCharged(conversationId) && !isRefused ? 'succeeded' : 'failed';
    const result = await shop.see(shop.payments.resolve(conversationId, word, 'the bank’s books'));
    const isOpen = payment.state === 'unknown' || payment.state === 'review';
    const isTooSoon = word === 'failed' && payment.isForced(now(shop));
    if (!isOpen || isTooSoon || isRefused) return expectError(result, PaymentStateError);
    model.move(payment, word, 'operator');
    expectState(result, word);
  }
}

export class Reconcile extends Step {
  async act(model: PaymentModel, shop: Shop): Promise<void> {
    await reconcile(model, shop);
  }
}

export class Crash extends Step {
  async act(_model: PaymentModel, shop: Shop): Promise<void> {
    await shop.restart();
  }
}

/** The gateway answers an instance that had been given up. */
export class AnswerLate extends Step {
  constructor(private readonly which: number) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const hanging = [...shop.gateway.hanging];
    if (hanging.length === 0) return;
    const [conversationId, answer] = hanging[this.which % hanging.length]!;
    const refund = model.refunds.find(conversationId);
    if (refund) return answerLate(refund, model, shop);
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

/** A pass of the background work, after which handlers have heard every event. */
export async function reconcile(model: PaymentModel, shop: Shop): Promise<void> {
  shop.gateway.isDown = false;
  const at = shop.clock.now();
  // The module chooses the times at random: the store knows what is due.
  const isDue = ({ dueAt }: { dueAt: Date | null }): boolean => dueAt !== null && dueAt <= at;
  const due = (await shop.records()).filter(isDue);
  const dueRefunds = (await shop.refundRecords()).filter(isDue);
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
  for (const { conversationId } of dueRefunds) {
    const refund = model.refunds.find(conversationId)!;
    if (refund.state !== 'unknown') model.refunds.move(refund, 'unknown', 'interrupted');
    inquiredRefund(model, shop, refund);
  }
  const records = [...model.payments, ...model.refunds.all];
  expect([...shop.told].sort()).toEqual(records.flatMap(({ events }) => events).sort());
}

function inquired(model: PaymentModel, shop: Shop, payment: ModelPayment): void {
  const { conversationId } = payment.sale;
  const isCharged = shop.gateway.isCharged(conversationId);
  model.inquired(payment, shop.gateway.plays.get(conversationId), isCharged, now(shop));
}

function saleOf({ again, ...asked }: Ask, kind: ModelSale['kind'], model: PaymentModel): ModelSale {
  const earlier = again === null ? undefined : pick([...model.payments, ...model.refunds.all], again);
  const fresh = `PAY${String(model.payments.length).padStart(17, '0')}`;
  return { ...asked, kind, conversationId: earlier?.id ?? fresh };
}

/** The payment that has the id or key already; `other` where that is not the same sale. */
function twinOf(sale: ModelSale, model: PaymentModel): ModelPayment | 'other' | null {
  if (model.refunds.find(sale.conversationId)) return 'other';
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

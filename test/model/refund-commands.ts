import {
  PaymentDuplicateError,
  PaymentNotFoundError,
  PaymentNotSentError,
  PaymentRefundError,
  PaymentStateError,
  PaymentValidationError,
  type Refund,
} from 'nestjs-card-payment';
import type { RefundPlay } from './model-gateway.js';
import type { ModelPayment } from './model-payment.js';
import type { PaymentModel } from './payment-model.js';
import { amountText, areIdsCertain, kurus, type ModelAsk, type ModelRefund, type Refusal } from './refund-model.js';
import type { Shop } from './shop-instance.js';
import { expectError, expectState, now, pick, seeOrCrash, Step } from './step.js';

/** The id of no payment and no refund. */
const NONE = 'NONE';

/** The input of a refund. */
export interface RefundAsk {
  readonly which: number;
  /** Of any payment, or of one of which money was taken, if there is one. */
  readonly isAny: boolean;
  readonly amount: string | null;
  readonly key: string | null;
  /** Whether the shop names the refund itself; a number takes the id of an earlier refund or payment. */
  readonly id: 'none' | 'own' | number;
}

/** Gives back by `refund` or `void`. */
export class GiveBack extends Step {
  constructor(
    private readonly kind: ModelAsk['kind'],
    private readonly ask: RefundAsk,
    private readonly play: RefundPlay,
    private readonly copies: number,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const asked = askOf(this.kind, this.ask, model);
    const input = inputOf(asked);
    shop.gateway.play = this.play;
    shop.nextRefundId = freshId(model);
    const sent = shop.gateway.sent.length;
    // Without an id and a key, a copy would be a refund of its own. What was not sent is tried again by a copy.
    const isOnce = (asked?.refundId ?? asked?.idempotencyKey ?? null) === null || this.play === 'notSent';
    const copies = Array.from({ length: isOnce ? 1 : this.copies }, () =>
      this.kind === 'void' ? shop.payments.void(input) : shop.payments.refund(input),
    );
    // Copies may come back while the refund is under way.
    const work = Promise.all(copies).then((same) => same.sort((one, other) => other.version - one.version)[0]!);
    const refused = asked && refusedBefore(asked, model);
    if (!asked || refused) {
      expectRefused(await shop.see(work), refused ?? 'not_found', model, asked);
      expect(shop.gateway.sent).toHaveLength(sent);
      return;
    }
    const { payment } = asked;
    if (!areIdsCertain(payment) && shop.gateway.isDown) {
      return expectRefusal(await shop.see(work), 'no_ids', model, payment);
    }
    const refund = openRefund(asked, model, shop);
    const result = await seeOrCrash(shop, refund.id, this.play, work);
    if (result) {
      model.refunds.answered(refund, this.play);
      if (this.play === 'notSent') expectError(result, PaymentNotSentError);
      else expectRefund(result, refund);
    }
    await expectTotals(model, shop, payment);
  }
}

/** Two calls for one payment at the same time, each with an id of its own: refunds, or one that is only recorded. */
export class GiveBackTwice extends Step {
  constructor(
    private readonly ask: RefundAsk,
    private readonly play: RefundPlay,
    private readonly other: 'refund' | 'recordRefund',
    /** How far the first one is when the second one begins. */
    private readonly ticks: number,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const amount = this.ask.amount ?? '4.00';
    const asked = askOf('refund', { ...this.ask, amount, key: null, id: 'none' }, model);
    if (!asked) return;
    const { payment } = asked;
    const { gateway, payments } = shop;
    const isAllowed = model.refunds.refusalOf(asked) === null;
    const isMute = !areIdsCertain(payment) && gateway.isDown && this.other === 'refund';
    const sent = gateway.sent.length;
    gateway.play = this.play;
    const ids = [freshId(model), `${freshId(model)}B`];
    const input = inputOf(asked);
    const first = payments.refund({ ...input, refundId: ids[0] });
    for (let tick = 0; tick < this.ticks; tick += 1) await Promise.resolve();
    const second = { ...input, refundId: ids[1], amount, note: 'given back at the panel' };
    const results = await shop.see(Promise.allSettled([first, payments[this.other](second)]));
    const [one, two] = (results as PromiseFulfilledResult<PromiseSettledResult<Refund>[]>).value;
    const byId = new Map([one!, two!].map((result, index) => [ids[index]!, result]));

    const order = gateway.sent.slice(sent).map(({ conversationId }) => conversationId);
    // If both were let through, the one that is open came last, and the one that failed first.
    const isFirst = this.play !== 'decline' && this.play !== 'liar';
    if (this.other === 'recordRefund' && two!.status === 'fulfilled') order.splice(isFirst ? 0 : 1, 0, ids[1]!);
    expect(order.length > 0).toBe(isAllowed && !isMute);
    for (const refundId of order) {
      expect(model.refunds.refusalOf(asked)).toBeNull();
      const refund = openRefund({ ...asked, refundId }, model, shop);
      if (gateway.refunds.has(refundId)) model.refunds.answered(refund, this.play);
      else model.refunds.move(refund, 'succeeded', 'recorded');
      expectRefund(byId.get(refundId)!, refund);
    }
    for (const refundId of ids.filter((id) => !order.includes(id))) {
      const refused = model.refunds.refusalOf(asked) === 'state' ? PaymentStateError : PaymentRefundError;
      expectError(byId.get(refundId)!, refused);
      await adoptUnsent(asked, refundId, model, shop);
    }
    await expectTotals(model, shop, payment);
  }
}

/** Writes down a refund that was made at the gateway's panel. */
export class RecordRefund extends Step {
  constructor(private readonly ask: RefundAsk) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const { amount } = this.ask;
    const asked = askOf('refund', { ...this.ask, amount: amount ?? '4.00' }, model);
    shop.nextRefundId = freshId(model);
    const sent = shop.gateway.sent.length;
    const input = { ...inputOf(asked), amount: amount ?? '4.00', note: 'given back at the panel' };
    const result = await shop.see(shop.payments.recordRefund(input));
    expect(shop.gateway.sent).toHaveLength(sent);
    if (input.refundId === undefined && input.idempotencyKey === undefined) {
      return expectError(result, PaymentValidationError);
    }
    const refused = asked && refusedBefore(asked, model);
    if (!asked || refused) return expectRefused(result, refused ?? 'not_found', model, asked);
    const refund = openRefund(asked, model, shop);
    model.refunds.move(refund, 'succeeded', 'recorded');
    expectRefund(result, refund);
    await expectTotals(model, shop, asked.payment);
  }
}

export class InquireRefund extends Step {
  constructor(
    /** 0 is the newest. */
    private readonly which: number,
    private readonly isDown: boolean,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const refund = pick(model.refunds.all.toReversed(), this.which);
    shop.gateway.isDown = this.isDown;
    const result = await shop.see(shop.payments.inquireRefund(refund?.id ?? NONE));
    if (!refund) return expectError(result, PaymentNotFoundError);
    if (!this.isDown) inquiredRefund(model, shop, refund);
    expectRefund(result, refund);
    await expectTotals(model, shop, refund.payment);
  }
}

/** An operator settles a refund after a look at the gateway's panel. */
export class ResolveRefund extends Step {
  constructor(
    /** 0 is the newest. */
    private readonly which: number,
    private readonly force: boolean,
  ) {
    super();
  }

  async act(model: PaymentModel, shop: Shop): Promise<void> {
    const refund = pick(model.refunds.all.toReversed(), this.which);
    const id = refund?.id ?? NONE;
    const word = shop.gateway.isGiven(id) ? 'succeeded' : 'failed';
    const options = { force: this.force };
    const result = await shop.see(shop.payments.resolveRefund(id, word, 'the gateway’s panel', options));
    if (!refund) return expectError(result, PaymentNotFoundError);
    const isOpen = refund.state === 'unknown' || refund.state === 'review';
    const isTooSoon = word === 'failed' && !this.force && refund.isForced(now(shop));
    if (!isOpen || isTooSoon) return expectError(result, PaymentStateError);
    model.refunds.move(refund, word, 'operator');
    expectRefund(result, refund);
    await expectTotals(model, shop, refund.payment);
  }
}

/** The gateway answers an instance that had been given up while it gave money back. */
export async function answerLate(refund: ModelRefund, model: PaymentModel, shop: Shop): Promise<void> {
  const { hanging, refunds } = shop.gateway;
  const answer = hanging.get(refund.id)!;
  hanging.delete(refund.id);
  answer();
  await shop.see(shop.zombies.get(refund.id)!);
  model.refunds.answered(refund, refunds.get(refund.id)!.play);
}

export function inquiredRefund(model: PaymentModel, { gateway }: Shop, refund: ModelRefund): void {
  model.refunds.inquired(refund, gateway.refunds.get(refund.id)?.play, gateway.isGiven(refund.id));
}

/** What the shop and the model say of a payment's money. */
export async function expectTotals({ refunds }: PaymentModel, shop: Shop, payment: ModelPayment): Promise<void> {
  const totals = Object.entries(refunds.totals(payment)).map(([name, amount]) => [name, amountText(amount as number)]);
  expect({ ...(await shop.payments.refundTotals(payment.id)) }).toEqual(Object.fromEntries(totals));
}

function askOf(
  kind: ModelAsk['kind'],
  { which, isAny, amount, key, id }: RefundAsk,
  model: PaymentModel,
): ModelAsk | null {
  const { payments, refunds } = model;
  const taken = payments.filter((payment) => refunds.totals(payment).taken > 0);
  const payment = (isAny ? undefined : pick(taken, which)) ?? pick(payments, which);
  if (!payment) return null;
  const own = typeof id === 'number' ? pick([...refunds.all, ...payments], id)!.id : freshId(model);
  return {
    kind,
    payment,
    refundId: id === 'none' ? null : own,
    idempotencyKey: key,
    amount: kind === 'void' || amount === null ? null : kurus(amount),
  };
}

/** A payment that does not exist where there is none yet. */
function inputOf(ask: ModelAsk | null) {
  return {
    conversationId: ask?.payment.id ?? NONE,
    ...(ask && ask.refundId !== null && { refundId: ask.refundId }),
    ...(ask && ask.idempotencyKey !== null && { idempotencyKey: ask.idempotencyKey }),
    ...(ask && ask.amount !== null && { amount: amountText(ask.amount) }),
  };
}

function freshId({ refunds }: PaymentModel): string {
  return `REF${String(refunds.all.length).padStart(17, '0')}`;
}

/** Why nothing is even asked of the gateway: the earlier refund, an id or key of something else, or a refusal. */
function refusedBefore(ask: ModelAsk, model: PaymentModel): ModelRefund | 'duplicate' | Refusal | null {
  const twin = model.refunds.twinOf(ask);
  if (twin) return twin === 'other' ? 'duplicate' : twin;
  if (ask.refundId !== null && model.find(ask.refundId)) return 'duplicate';
  return model.refunds.refusalOf(ask);
}

function openRefund(ask: ModelAsk, model: PaymentModel, shop: Shop): ModelRefund {
  const { payment } = ask;
  const refund = model.refunds.open(ask.refundId ?? shop.nextRefundId, ask, now(shop));
  // So that nobody resolves it as failed meanwhile, a payment in review gets another version.
  if (payment.state === 'review') model.move(payment, 'review', payment.reason);
  return refund;
}

/** A refund that lost against another one after it was stored ends without being sent. */
async function adoptUnsent(ask: ModelAsk, refundId: string, model: PaymentModel, shop: Shop): Promise<void> {
  const stored = await shop.payments.refunds(ask.payment.id);
  const found = stored.find((refund) => refund.refundId === refundId);
  if (!found) return;
  const refund = model.refunds.open(refundId, { ...ask, amount: kurus(found.amount) }, now(shop));
  model.refunds.move(refund, 'failed', 'not_sent');
}

function expectRefused(
  result: PromiseSettledResult<Refund>,
  refused: ModelRefund | 'duplicate' | 'not_found' | Refusal,
  model: PaymentModel,
  ask: ModelAsk | null,
): void {
  if (typeof refused !== 'string') return expectRefund(result, refused);
  if (refused === 'not_found' || !ask) return expectError(result, PaymentNotFoundError);
  if (refused === 'duplicate') return expectError(result, PaymentDuplicateError);
  if (refused === 'state') return expectError(result, PaymentStateError);
  expectRefusal(result, refused, model, ask.payment);
}

function expectRefusal(
  result: PromiseSettledResult<Refund>,
  reason: PaymentRefundError['reason'],
  { refunds }: PaymentModel,
  payment: ModelPayment,
): void {
  expectError(result, PaymentRefundError);
  const refundable = amountText(refunds.totals(payment).refundable);
  expect((result as PromiseRejectedResult).reason).toMatchObject({ reason, refundable });
}

function expectRefund(result: PromiseSettledResult<Refund>, refund: ModelRefund): void {
  expectState(result, refund.state);
  const { id, payment, kind, reason, amount, history } = refund;
  const expected = { refundId: id, conversationId: payment.id, kind, reason, version: history.length };
  expect((result as PromiseFulfilledResult<Refund>).value).toMatchObject({ ...expected, amount: amountText(amount) });
}

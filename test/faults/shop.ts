import type { INestApplicationContext } from '@nestjs/common';
import {
  type DoPaymentDto,
  type Payment,
  PaymentHostedError,
  PaymentInit3dError,
  PaymentNotSentError,
  type PaymentOptions,
  type PaymentService,
  type PaymentState,
  type Refund,
  type RefundDto,
} from 'nestjs-card-payment';
import type { RefundOperation, Simulator, SimulatorOperation } from 'nestjs-card-payment/simulator';
import { SystemClock } from '../../lib/runtime/clock.js';
import { AUTH3D_RETRY_MS } from '../../lib/operations/three-d.js';
import { simulatorOptions } from '../e2e/merchant.js';
import { sale } from '../rigs/sale.js';
import { startShop } from '../rigs/shop.js';

/** What charges a card. */
export const CHARGES = ['DoPayment', 'Auth3d'] as const satisfies readonly SimulatorOperation[];
/** What gives money back: a part of a payment, or the whole sale. */
export const GIVE_BACKS = ['refund', 'void'] as const satisfies readonly RefundOperation[];
/** Each request that may move money, and those for a page, which cannot. */
export const MOVES = [...CHARGES, ...GIVE_BACKS] as const;
export const STARTS = ['Init3d', 'hostedPage'] as const satisfies readonly SimulatorOperation[];
export const OPERATIONS = [...MOVES, ...STARTS] as const;
export type Operation = (typeof OPERATIONS)[number];
export type GiveBack = (typeof GIVE_BACKS)[number];

/** What a refund gives back here, of {@link SALE_AMOUNT}. */
export const REFUND_AMOUNT = '40.00';
export const SALE_AMOUNT = '149.90';

export const amountOf = (operation: Operation): string => (operation === 'refund' ? REFUND_AMOUNT : SALE_AMOUNT);

/** What an operation is called with, as often as a test likes. */
export interface Subject {
  readonly operation: Operation;
  /** The order, of DoPayment and of a page. */
  readonly order: DoPaymentDto;
  /** Of Auth3d the one whose buyer is at the bank, of a refund the one that was paid. */
  readonly payment: Payment | null;
}

/** The payment or the refund that a call returned, or that its error holds. */
export interface Attempt {
  readonly record: Payment | Refund;
  readonly thrown: 'PaymentNotSentError' | StartError | null;
  /** What the buyer is shown. */
  readonly page: string | null;
}

type StartError = 'PaymentInit3dError' | 'PaymentHostedError';

const START_ERRORS: Partial<Record<Operation, StartError>> = {
  Init3d: 'PaymentInit3dError',
  hostedPage: 'PaymentHostedError',
};
const GOOD_ENDS: Partial<Record<Operation, PaymentState>> = { Init3d: 'awaiting', hostedPage: 'pending' };

/** What is thrown where there is no page; null of what only moves money. */
export const startErrorOf = (operation: Operation): StartError | null => START_ERRORS[operation] ?? null;
/** The state of a payment or a refund that went well. */
export const goodEndOf = (operation: Operation): PaymentState => GOOD_ENDS[operation] ?? 'succeeded';

export function isGiveBack(operation: Operation): operation is GiveBack {
  return operation === 'refund' || operation === 'void';
}

export function isRefund(record: Payment | Refund): record is Refund {
  return 'refundId' in record;
}

/** Skips the pauses between the tries of an Auth3d that was not sent, and counts them. */
class EagerClock extends SystemClock {
  pauses = 0;
  /** What happens during a pause. */
  onPause: () => Promise<void> = () => Promise.resolve();

  override now(): Date {
    return new Date(super.now().getTime() + this.pauses * AUTH3D_RETRY_MS);
  }

  override monotonic(): number {
    return super.monotonic() + this.pauses * AUTH3D_RETRY_MS;
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms !== AUTH3D_RETRY_MS || signal) return super.sleep(ms, signal);
    this.pauses += 1;
    return this.onPause();
  }
}

/** A merchant's application without HTTP in front of a simulator, or of something that fails in its place. */
export class Shop {
  private constructor(
    readonly simulator: Simulator,
    readonly app: INestApplicationContext,
    readonly payments: PaymentService,
    readonly clock: EagerClock,
  ) {}

  /** Without background work, so that nothing but the call itself meets the fault. */
  static async open(simulator: Simulator, options: PaymentOptions = {}): Promise<Shop> {
    const clock = new EagerClock();
    const own = { ...simulatorOptions(simulator), background: false, ...options };
    const { app, payments } = await startShop({ options: own, clock });
    return new Shop(simulator, app, payments, clock);
  }

  /** Makes what the operation needs. */
  async prepare(operation: Operation): Promise<Subject> {
    const order = sale(SALE_AMOUNT);
    if (operation === 'Auth3d') return { operation, order, payment: (await this.payments.init3d(order)).payment };
    return { operation, order, payment: isGiveBack(operation) ? await this.paid() : null };
  }

  /**
   * One call. It throws errors that no fault may cause.
   *
   * @param more of refunds
   */
  async call(
    { operation, order, payment }: Subject,
    more: Pick<RefundDto, 'refundId' | 'idempotencyKey'> = {},
  ): Promise<Attempt> {
    const { payments } = this;
    const conversationId = payment?.conversationId ?? '';
    const returned = (record: Payment | Refund, page: string | null = null) => ({ record, thrown: null, page });
    if (operation === 'Auth3d') return returned(await this.complete(conversationId));
    try {
      if (operation === 'DoPayment') return returned(await payments.doPayment(order));
      if (operation === 'refund')
        return returned(await payments.refund({ conversationId, amount: REFUND_AMOUNT, ...more }));
      if (operation === 'void') return returned(await payments.void({ conversationId, ...more }));
      if (operation === 'hostedPage') {
        const { reference, transactionDetails } = order;
        const hosted = await payments.startHosted({ reference, transactionDetails });
        return returned(hosted.payment, hosted.redirectUrl);
      }
      const started = await payments.init3d(order);
      return returned(started.payment, started.html);
    } catch (error) {
      if (error instanceof PaymentNotSentError)
        return { record: error.refund ?? error.payment, thrown: 'PaymentNotSentError', page: null };
      if (error instanceof PaymentInit3dError || error instanceof PaymentHostedError)
        return { record: error.payment, thrown: error.name as StartError, page: null };
      throw error;
    }
  }

  /** The payment as it is kept, or all refunds of its payment. */
  async kept(record: Payment | Refund): Promise<readonly (Payment | Refund | null)[]> {
    const { conversationId } = record;
    return isRefund(record) ? this.payments.refunds(conversationId) : [await this.payments.find(conversationId)];
  }

  /** Asks the gateway. */
  inquire(record: Payment | Refund): Promise<Payment | Refund> {
    return isRefund(record)
      ? this.payments.inquireRefund(record.refundId)
      : this.payments.inquire(record.conversationId);
  }

  /** How often the gateway moved the money of this payment or refund. */
  moved(record: Payment | Refund): number {
    const { ledger } = this.simulator;
    return isRefund(record) ? ledger.refundedTimes(record.refundId) : ledger.chargedTimes(record.conversationId);
  }

  /** Auth3d, with what the bank of the simulator sends. */
  complete(conversationId: string): Promise<Payment> {
    const { fields } = this.simulator.approve(conversationId);
    return this.payments.auth3d({ conversationId, fields });
  }

  /** A payment whose money can be given back. */
  async paid(): Promise<Payment> {
    const payment = await this.payments.doPayment(sale(SALE_AMOUNT));
    if (payment.state !== 'succeeded') throw new Error(`The payment to be given back is ${payment.state}.`);
    return payment;
  }

  async close(): Promise<void> {
    await this.app.close();
  }
}

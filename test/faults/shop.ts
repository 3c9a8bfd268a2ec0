import type { INestApplication } from '@nestjs/common';
import {
  type Payment,
  PaymentInit3dError,
  PaymentNotSentError,
  type PaymentOptions,
  type PaymentService,
  type Refund,
  type RefundDto,
} from 'nestjs-card-payment';
import type { RefundOperation, Simulator, SimulatorOperation } from 'nestjs-card-payment/simulator';
import { PaymentClock, SystemClock } from '../../lib/runtime/clock.js';
import { AUTH3D_RETRY_MS } from '../../lib/settlement/claim.js';
import { sale, startMerchant } from '../e2e/merchant.js';

export const ENDPOINTS = ['DoPayment', 'Init3d', 'Auth3d'] as const satisfies readonly SimulatorOperation[];
export type Endpoint = (typeof ENDPOINTS)[number];

/** What gives money back: a part of a payment, or the whole sale. */
export const GIVE_BACKS = ['refund', 'void'] as const satisfies readonly RefundOperation[];
export type GiveBack = (typeof GIVE_BACKS)[number];

/** What a refund gives back here, of {@link SALE_AMOUNT}. */
export const REFUND_AMOUNT = '40.00';
export const SALE_AMOUNT = '149.90';

/** The payment that a call returned, or the error that it threw, which holds the payment. */
export interface Attempt {
  readonly payment: Payment;
  readonly thrown: 'PaymentNotSentError' | 'PaymentInit3dError' | null;
  /** Only of a successful Init3d. */
  readonly html: string | null;
}

/** The refund that a call returned, or that its error holds. */
export interface RefundAttempt {
  readonly refund: Refund;
  readonly thrown: 'PaymentNotSentError' | null;
}

/** Skips the pauses between the tries of an Auth3d that was not sent, and counts them. */
class EagerClock extends SystemClock {
  pauses = 0;
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

/** A merchant's application in front of a simulator, or of something that fails in its place. */
export class Shop {
  private readonly clock: EagerClock;

  private constructor(
    readonly simulator: Simulator,
    readonly app: INestApplication,
    readonly payments: PaymentService,
  ) {
    this.clock = app.get(PaymentClock, { strict: false });
  }

  /** Without background work, so that nothing but the call itself meets the fault. */
  static async open(simulator: Simulator, options: PaymentOptions = {}): Promise<Shop> {
    const { app, payments } = await startMerchant('express', simulator, {
      options: { background: false, ...options },
      override: (builder) => builder.overrideProvider(PaymentClock).useValue(new EagerClock()),
    });
    return new Shop(simulator, app, payments);
  }

  /** How often an Auth3d waited to be tried again. */
  get pauses(): number {
    return this.clock.pauses;
  }

  /** What happens while an Auth3d waits to be tried again. */
  set onPause(action: () => Promise<void>) {
    this.clock.onPause = action;
  }

  /** One call of the endpoint. It throws errors that no fault may cause. */
  async call(endpoint: Endpoint, starter: Shop = this): Promise<Attempt> {
    if (endpoint === 'Auth3d') return this.complete(await starter.awaiting());
    try {
      if (endpoint === 'DoPayment') return { payment: await this.payments.doPayment(sale()), thrown: null, html: null };
      const { payment, html } = await this.payments.init3d(sale());
      return { payment, thrown: null, html };
    } catch (error) {
      if (error instanceof PaymentNotSentError)
        return { payment: error.payment, thrown: 'PaymentNotSentError', html: null };
      if (error instanceof PaymentInit3dError)
        return { payment: error.payment, thrown: 'PaymentInit3dError', html: null };
      throw error;
    }
  }

  /** A 3D payment whose buyer has been verified by the bank. */
  async awaiting(): Promise<string> {
    const { conversationId } = await this.payments.init3d(sale());
    return conversationId;
  }

  /** Auth3d, with what the bank of the simulator sends. If it throws, the test fails. */
  async complete(conversationId: string): Promise<Attempt> {
    const { fields } = this.simulator.approve(conversationId);
    return { payment: await this.payments.auth3d({ conversationId, fields }), thrown: null, html: null };
  }

  /** A payment whose money can be given back. */
  async paid(): Promise<Payment> {
    const payment = await this.payments.doPayment(sale(SALE_AMOUNT));
    if (payment.state !== 'succeeded') throw new Error(`The payment to be given back is ${payment.state}.`);
    return payment;
  }

  /** Gives back a part of the payment, or all of it. It throws errors that no fault may cause. */
  async giveBack(
    kind: GiveBack,
    { conversationId }: Pick<Payment, 'conversationId'>,
    more: Pick<RefundDto, 'refundId' | 'idempotencyKey'> = {},
  ): Promise<RefundAttempt> {
    try {
      const amount = kind === 'refund' ? { amount: REFUND_AMOUNT } : {};
      return { refund: await this.payments[kind]({ conversationId, ...amount, ...more }), thrown: null };
    } catch (error) {
      if (!(error instanceof PaymentNotSentError) || !error.refund) throw error;
      return { refund: error.refund, thrown: 'PaymentNotSentError' };
    }
  }

  async close(): Promise<void> {
    await this.app.close();
  }
}

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { PaymentOptions } from 'nestjs-card-payment';
import {
  currentTestCards,
  SMS_CODE,
  type Simulator,
  startSimulator,
  type TestCard,
} from 'nestjs-card-payment/simulator';

/** A simulated gateway, so that the shop needs no account. Setting `PAYMENT_BASE_URL` switches it off. */
@Injectable()
export class DemoGateway implements OnApplicationShutdown {
  readonly smsCode = SMS_CODE;

  private constructor(readonly simulator: Simulator | null) {}

  static async start(): Promise<DemoGateway> {
    if (process.env.PAYMENT_BASE_URL) return new DemoGateway(null);
    // Whether the real gateway can be asked about a refund is not known. Here it can, so that the orders page can show it.
    const options = { dialect: 'morpos', merchantName: 'Toprak Atölye', inquiryKnowsRefunds: true } as const;
    // Two and three instalments are free, as shops often offer; more of them cost the buyer something.
    const installmentRates = { 6: '2.5', 9: '4.9', 12: '7.25' };
    return new DemoGateway(await startSimulator({ ...options, installmentRates }));
  }

  get isOn(): boolean {
    return this.simulator !== null;
  }

  get testCards(): readonly TestCard[] {
    return this.isOn ? currentTestCards() : [];
  }

  /** Replaces the `PAYMENT_*` variables. */
  get paymentOptions(): PaymentOptions {
    if (!this.simulator) return {};
    const { url, dialect, credentials } = this.simulator;
    return { baseUrl: url, dialect, ...credentials, publicUrl: `http://localhost:${process.env.PORT}` };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.simulator?.close();
  }
}

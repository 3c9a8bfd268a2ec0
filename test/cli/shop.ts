import { Test, type TestingModule } from '@nestjs/testing';
import { OnPayment, type Payment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { SystemClock } from '../../lib/runtime/clock.js';
import { openStore } from '../../lib/store/open-store.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { sale } from '../rigs/sale.js';
import { cliHere } from './cli.js';
import { JSON_SHAPES, shapeOf, withEmptyLists } from './json-shapes.js';

class Orders {
  readonly paid: string[] = [];

  @OnPayment('succeeded', { id: 'orders' })
  markPaid({ payment }: { payment: Payment }): void {
    this.paid.push(payment.conversationId);
  }
}

type Variables = Readonly<Record<string, string>>;

/** An application that takes payments, and the command line beside it. */
export class Shop {
  private constructor(
    private readonly cwd: string,
    readonly simulator: Simulator,
    private readonly app: TestingModule,
    readonly payments: PaymentService,
    readonly orders: Orders,
    /** The application's store, opened once more. */
    readonly store: PaymentStore,
    readonly env: Variables,
  ) {}

  static async open(cwd: string): Promise<Shop> {
    const storeUrl = `sqlite:${cwd}/payments.sqlite`;
    const simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
    const { credentials, url } = simulator;
    const urls = { returnUrl: 'https://shop.example/r', failUrl: 'https://shop.example/f' };
    const gateway = { ...credentials, dialect: 'morpos', baseUrl: url, ...urls } as const;
    const orders = new Orders();
    const app = await Test.createTestingModule({
      imports: [PaymentModule.forRoot({ ...gateway, storeUrl, background: false, callback: false })],
      providers: [{ provide: Orders, useValue: orders }],
    }).compile();
    app.useLogger(false);
    await app.init();
    const clock = new SystemClock();
    const store = await openStore({ storeUrl, store: null, variable: '', background: false, clock });
    return new Shop(cwd, simulator, app, app.get(PaymentService), orders, store, {
      PAYMENT_STORE_URL: storeUrl,
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: url,
      PAYMENT_MERCHANT_ID: credentials.merchantId,
      PAYMENT_CLIENT_ID: credentials.clientId,
      PAYMENT_CLIENT_SECRET: credentials.clientSecret,
      PAYMENT_API_KEY: credentials.apiKey,
      PAYMENT_TIMEOUT_MS: '5000',
    });
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.app.close();
    await this.simulator.close();
  }

  /** A payment that succeeded. */
  async paid(amount = '149.90'): Promise<string> {
    const { conversationId, state } = await this.payments.doPayment(sale(amount));
    expect(state).toBe('succeeded');
    return conversationId;
  }

  /** Runs a command; one that asks gets no answer, since there is no terminal. */
  said(words: readonly string[], env: Variables = this.env) {
    return cliHere(['payments', ...words], { cwd: this.cwd, env });
  }

  /** Runs a command at a terminal, where a person types this. */
  typed(answer: string | (() => Promise<string>), words: readonly string[]) {
    return cliHere(['payments', ...words], { cwd: this.cwd, env: this.env, typed: answer });
  }

  /** The JSON that a command prints, of the shape that scripts rely on. */
  async json<T = Readonly<Record<string, unknown>>>(command: string, ...words: string[]): Promise<T> {
    const { stdout } = await this.said([command, ...words, '--json']);
    const answer = JSON.parse(stdout) as T;
    expect(shapeOf(answer)).toEqual(withEmptyLists(JSON_SHAPES[`payments ${command}`], answer));
    return answer;
  }
}

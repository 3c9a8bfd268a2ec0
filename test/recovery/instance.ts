import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type DoPaymentDto,
  MemoryPaymentStore,
  PaymentClock,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
  type PaymentStore,
} from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { openSqlStore } from 'nestjs-card-payment/sql';

/** Where the instances of a merchant keep their payments. */
export interface SharedBooks {
  readonly url: string;
  /** As one more instance has them. */
  connect(clock: PaymentClock): Promise<PaymentStore>;
  remove(): void;
}

/** The stores that the tests run on. */
export const BOOKS: Readonly<Record<'memory' | 'SQLite', () => SharedBooks>> = {
  memory: () => {
    let store: PaymentStore | null = null;
    const connect = (clock: PaymentClock) => Promise.resolve((store ??= new MemoryPaymentStore({ clock })));
    return { url: 'memory:', connect, remove: () => undefined };
  },
  SQLite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'card-payment-recovery-'));
    const url = `sqlite:${join(folder, 'payments.db')}`;
    return { url, connect: (clock) => openSqlStore(url, { clock }), remove: () => rmSync(folder, { recursive: true }) };
  },
};

/** One of a merchant's instances. Its background work is done when the test says so. */
export interface Instance {
  readonly payments: PaymentService;
  close(): Promise<void>;
}

export interface InstanceSetup {
  readonly simulator: Simulator;
  readonly clock: PaymentClock;
  /** Absent where it makes its own of `storeUrl`. */
  readonly store?: PaymentStore;
  readonly providers?: Provider[];
  readonly options?: PaymentOptions;
}

export async function startInstance({ simulator, clock, store, providers, options }: InstanceSetup): Promise<Instance> {
  const module = PaymentModule.forRoot({
    baseUrl: simulator.url,
    ...simulator.credentials,
    dialect: 'morpos',
    callback: false,
    returnUrl: 'https://shop.example/{token}',
    failUrl: 'https://shop.example/{token}',
    background: false,
    ...(store && { store }),
    ...options,
  });
  const app = await Test.createTestingModule({ imports: [module], providers })
    .overrideProvider(PaymentClock)
    .useValue(clock)
    .compile();
  app.useLogger(false);
  await app.init();
  return { payments: app.get(PaymentService), close: () => app.close() };
}

let orders = 0;

/** A sale with a published test card. */
export function sale(more: Partial<DoPaymentDto> = {}): DoPaymentDto {
  orders += 1;
  return {
    reference: `order-${orders}`,
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionDetails: { amount: '149.90', currencyCode: 949 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    ...more,
  };
}

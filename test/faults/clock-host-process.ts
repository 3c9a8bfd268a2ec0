// A host of a shop, with the built package, in a process of its own. It does what its parent asks.
import { Injectable } from '@nestjs/common';
import {
  type Auth3dDto,
  type DoPaymentDto,
  type HostedPaymentDto,
  OnPayment,
  type PaymentEvent,
  PaymentHostedError,
  type PaymentOptions,
} from 'nestjs-card-payment';
import { startShop, type Shop } from '../rigs/shop.js';
import { serveTasks } from '../rigs/tasks.mjs';

const account = JSON.parse(process.argv[2]!) as PaymentOptions;

@Injectable()
class Journal {
  readonly events: string[] = [];

  @OnPayment('succeeded', { id: 'journal' })
  paid({ eventId }: PaymentEvent): void {
    this.events.push(eventId);
  }
}

let shop: Shop | undefined;
let warnings: string[] = [];

const quiet = (): void => undefined;
const logger = { log: quiet, error: quiet, warn: (text: unknown) => void warnings.push(String(text)) };

export type ClockHostTasks = typeof tasks;

const tasks = {
  /** Starts the application, in place of the one before. */
  serve: async (options: PaymentOptions): Promise<null> => {
    await shop?.app.close();
    warnings = [];
    shop = await startShop({ options: { ...account, background: false, ...options }, providers: [Journal], logger });
    return null;
  },
  /** Its wall clock, by each way to read it. */
  clock: () => [Date.now(), new Date().getTime(), Date.parse(Date())],
  /** What its application warned of. */
  warnings: () => warnings,
  /** Starts a 3D payment. @returns its conversationId */
  start: async (sale: DoPaymentDto) => (await shop!.payments.init3d(sale)).conversationId,
  pay: async (sale: DoPaymentDto) => (await shop!.payments.doPayment(sale)).state,
  /** Starts a payment at the gateway's own page. @returns its conversationId, or the reason why there is no page */
  open: async (sale: HostedPaymentDto): Promise<string> => {
    try {
      return (await shop!.payments.startHosted(sale)).conversationId;
    } catch (error) {
      if (error instanceof PaymentHostedError) return `${error.reason}`;
      throw error;
    }
  },
  inquire: async (conversationId: string) => (await shop!.payments.inquire(conversationId)).state,
  complete: async (callback: Auth3dDto) => (await shop!.payments.auth3d(callback)).state,
  stateOf: async (conversationId: string) => (await shop!.payments.find(conversationId))?.state ?? null,
  reconcile: () => shop!.payments.reconcile(),
  /** Ids of the events that its handler was called with. */
  heard: () => shop!.app.get(Journal).events,
  end: () => shop?.app.close(),
};

serveTasks(tasks);

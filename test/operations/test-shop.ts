import { type DoPaymentDto, MemoryPaymentStore, type PaymentEvent, type PaymentOptions } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import { EVENT_STATES } from '../../lib/payment/states.js';
import { type AssembledFlows, assembleFlows } from './assembled-flows.js';
import { FakeGateway } from './fake-gateway.js';

/** A store, a gateway and a clock for a test, shared by the instances that it starts. */
export class TestShop {
  readonly clock = new TestClock();
  readonly store = new MemoryPaymentStore({ clock: this.clock });
  readonly gateway = new FakeGateway();
  /** Events as the handler `journal` received them: `conversationId:version state`. */
  readonly journal: string[] = [];

  /** Starts another instance. It delivers events in a pass, or by itself once its `reconciler` is started. */
  async start(options: PaymentOptions = {}, waitMs?: number): Promise<AssembledFlows> {
    const { store, clock, gateway } = this;
    const flows = assembleFlows({ store, clock, transport: gateway.transport, options, waitMs });
    await flows.events.announce([
      {
        id: 'journal',
        account: flows.settings.account,
        types: EVENT_STATES.map((state) => `payment.${state}` as const),
        concurrency: 10,
        timeoutMs: null,
        handle: (event: PaymentEvent) => this.record(event),
      },
    ]);
    return flows;
  }

  private record({ payment: { conversationId, version, state } }: PaymentEvent): void {
    this.journal.push(`${conversationId}:${version} ${state}`);
  }
}

let orders = 0;

/** A sale of 149.90 lira with a published test card; each call is for a new order. */
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

/** Lets everything run that does not wait for a clock or for the test. */
export async function quiet(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
}

/** Whether work has ended after {@link quiet}. */
export async function isOver(work: Promise<unknown>): Promise<boolean> {
  let over = false;
  work.then(
    () => (over = true),
    () => (over = true),
  );
  await quiet();
  return over;
}

/** What waits for `passed` goes on after `pass()`. */
export function gate(): { passed: Promise<void>; pass: () => void } {
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass };
}

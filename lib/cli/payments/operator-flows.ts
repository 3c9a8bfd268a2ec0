import { InquiryFlow } from '../../flows/inquiry-flow.js';
import { OperatorFlow, type ResolveOptions } from '../../flows/operator-flow.js';
import { OwedWrites } from '../../flows/settling/owed-writes.js';
import { PaymentChanges } from '../../flows/settling/payment-changes.js';
import { PaymentReader } from '../../flows/payment-reader.js';
import { PaymentWriter } from '../../flows/settling/payment-writer.js';
import { ProcessHold } from '../../process/in-flight.js';
import { StoreClock } from '../../process/store-clock.js';
import { GatewayClient } from '../../gateway/gateway-client.js';
import { GatewayTransport } from '../../gateway/transport/gateway-transport.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { SystemClock } from '../../payment/clock.js';
import type { Payment } from '../../payment/payment.js';
import { SystemRandomness } from '../../payment/randomness.js';
import type { AccountStore } from './account-store.js';

/** The flows of `PaymentService`, put together without the background work and without handlers. */
class OperatorFlows {
  readonly clock: StoreClock;
  readonly reader: PaymentReader;
  readonly writer: PaymentWriter;
  readonly owed: OwedWrites;

  constructor({ store, account }: AccountStore) {
    this.clock = new StoreClock(new SystemClock(), store);
    // The event goes into the outbox with the state: an instance that runs delivers it.
    const changes = new PaymentChanges(store, this.clock, { publish: () => Promise.resolve() });
    this.owed = new OwedWrites(changes, this.clock, new ProcessHold());
    this.reader = new PaymentReader(store, { account });
    this.writer = new PaymentWriter(changes, this.owed, this.clock);
  }
}

/** As `PaymentService.resolve`. */
export async function resolvePayment(
  opened: AccountStore,
  conversationId: string,
  state: 'succeeded' | 'failed',
  note: string,
  options: ResolveOptions,
): Promise<Payment> {
  const { clock, reader, writer } = new OperatorFlows(opened);
  await clock.check();
  return new OperatorFlow(reader, writer, clock).resolve(conversationId, state, note, options);
}

/** As `PaymentService.inquire`. */
export async function inquirePayment(
  opened: AccountStore,
  settings: PaymentSettings,
  conversationId: string,
): Promise<Payment> {
  const { clock, reader, writer, owed } = new OperatorFlows(opened);
  const { timeoutMs, connectTimeoutMs } = settings;
  const transport = new GatewayTransport({ timeoutMs, connectTimeoutMs, keepAliveMs: 0 });
  try {
    await clock.check();
    const gateway = new GatewayClient(settings, transport, new SystemClock());
    const flow = new InquiryFlow(reader, writer, gateway, clock, new SystemRandomness(), settings);
    const payment = await flow.inquire(conversationId);
    await owed.close();
    return payment;
  } finally {
    await transport.close();
  }
}

import { Injectable, type LoggerService } from '@nestjs/common';
import { MemoryPaymentStore, OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import { until } from '../services/until.js';
import { bring, type Merchant, type MerchantSetup, sale, useMerchants } from './merchant.js';

const LEVELS = ['log', 'warn', 'error', 'debug', 'verbose', 'fatal'] as const;

const full = () => new Error('disk full');

/** How a logger fails at the module's lines. It accepts Nest's own, since otherwise Nest itself would not start. */
const FAILURES: Readonly<Record<string, () => unknown>> = {
  throws() {
    throw full();
  },
  'returns promises that reject': () => Promise.reject(full()),
};

/** A handler that fails the first time, of which a line is logged. */
@Injectable()
class Shop {
  readonly told: string[] = [];

  @OnPayment(['succeeded', 'unknown'])
  handle({ eventId }: PaymentEvent): Promise<void> {
    this.told.push(eventId);
    const isFirst = this.told.filter((each) => each === eventId).length === 1;
    return isFirst ? Promise.reject(new Error('down')) : Promise.resolve();
  }
}

describe.each(Object.entries(FAILURES))('a logger of the host that %s', (_what, fail) => {
  const merchants = useMerchants({ timestampToleranceMs: Infinity });
  let lines = 0;
  const method = (...line: unknown[]): unknown => {
    if (!line.includes('PaymentModule')) return undefined;
    lines += 1;
    return fail();
  };
  const logger = Object.fromEntries(LEVELS.map((level) => [level, method])) as unknown as LoggerService;
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  let clock: TestClock;
  let store: MemoryPaymentStore;
  let merchant: Merchant;

  beforeEach(() => {
    unhandled.length = lines = 0;
    process.on('unhandledRejection', note);
    clock = new TestClock(new Date());
    store = new MemoryPaymentStore({ clock });
  });
  afterEach(async () => {
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    // Lines were lost, and nothing else.
    expect([lines > 0, unhandled]).toEqual([true, []]);
  });

  async function start(more: MerchantSetup): Promise<void> {
    const metadata = { providers: [Shop] };
    merchant = await merchants.start('express', { options: { store }, metadata, clock, ...more });
  }

  const stateOf = async (id: string) => (await merchant.payments.find(id))?.state;

  it.each([
    ['', {}],
    [', with bufferLogs', { bufferLogs: true }],
  ])('does not keep payments from being made%s', async (_kind, application) => {
    await start({ application, configure: (app) => app.useLogger(logger) });
    expect(await merchant.payments.doPayment(sale())).toMatchObject({ state: 'succeeded', stored: true });
    expect(await merchant.payments.doPayment(sale('10.51'))).toMatchObject({ state: 'failed' });
    const { conversationId } = await merchant.payments.init3d(sale());
    const { status, headers } = await bring(merchants.simulator.approve(conversationId));
    expect([status, headers.get('location')]).toEqual([303, expect.stringContaining('/paid')]);
    const forged = await fetch(`${merchant.url}/payments/${'A'.repeat(43)}/return`, { method: 'POST' });
    expect(forged.status).toBe(404);
  });

  it('does not stop the background work, handlers, or what is owed', async () => {
    await start({ application: { logger } });
    const replace = store.replace.bind(store);
    const leaseDue = store.leaseDue.bind(store);
    store.replace = () => Promise.reject(new Error('down'));
    const owed = await merchant.payments.doPayment(sale());
    expect(owed).toMatchObject({ state: 'succeeded', stored: false });
    store.leaseDue = () => Promise.reject(new Error('down'));
    // More lines of a kind than are logged in a minute: the last one is written by a timer.
    await clock.advance(50_000);
    [store.replace, store.leaseDue] = [replace, leaseDue];
    await clock.advance(20_000);
    expect(await stateOf(owed.conversationId)).toBe('succeeded');
    merchants.simulator.fail({ operation: 'DoPayment', kind: 'reset', at: 'after' });
    const unknown = await merchant.payments.doPayment(sale());
    expect(unknown.state).toBe('unknown');
    // The gateway is asked after 18 s at the latest, over a real connection.
    await clock.advance(20_000);
    await until(async () => (await stateOf(unknown.conversationId)) !== 'unknown');
    expect(await stateOf(unknown.conversationId)).toBe('succeeded');
    const { told } = merchant.app.get(Shop);
    expect(told.filter((eventId) => eventId.startsWith(owed.conversationId))).toHaveLength(2);
  });
});

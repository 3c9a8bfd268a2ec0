import { Injectable, type LoggerService } from '@nestjs/common';
import { MemoryPaymentStore, OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import { until } from '../services/until.js';
import { bring, type Merchant, type MerchantSetup, sale, useMerchants } from './merchant.js';

const LEVELS = ['log', 'warn', 'error', 'debug', 'verbose', 'fatal'] as const;

/** Loggers that fail at the module's lines. They accept Nest's own lines, since otherwise Nest itself would not start. */
const LOGGERS: Readonly<Record<string, (line: () => void) => LoggerService>> = {
  throws: (line) =>
    loggerOf(() => {
      line();
      throw new Error('disk full');
    }),
  'returns promises that reject': (line) =>
    loggerOf(() => {
      line();
      return Promise.reject(new Error('disk full'));
    }),
  'returns thenables that reject': (line) =>
    loggerOf(() => {
      line();
      return { then: (_resolve: unknown, reject: (why: Error) => void) => reject(new Error('disk full')) };
    }),
};

function loggerOf(fail: () => unknown): LoggerService {
  const method = (...line: unknown[]): unknown => (line.includes('PaymentModule') ? fail() : undefined);
  return Object.fromEntries(LEVELS.map((level) => [level, method])) as unknown as LoggerService;
}

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

describe.each(Object.entries(LOGGERS))('a logger of the host that %s', (_what, make) => {
  const merchants = useMerchants({ timestampToleranceMs: Infinity });
  let clock: TestClock;
  let store: MemoryPaymentStore;
  let merchant: Merchant;
  let lines: number;
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);

  beforeEach(() => {
    unhandled.length = lines = 0;
    process.on('unhandledRejection', note);
    clock = new TestClock(new Date());
    store = new MemoryPaymentStore({ clock });
  });
  afterEach(() => {
    process.off('unhandledRejection', note);
  });

  async function start(more: MerchantSetup = {}): Promise<void> {
    const logger = make(() => (lines += 1));
    merchant = await merchants.start('express', {
      options: { store },
      metadata: { providers: [Shop] },
      clock,
      application: { logger },
      ...more,
    });
  }

  /** Lines were lost, and nothing else. */
  async function expectHarmless(): Promise<void> {
    await new Promise(setImmediate);
    expect(lines).toBeGreaterThan(0);
    expect(unhandled).toEqual([]);
  }

  const stateOf = async (id: string) => (await merchant.payments.find(id))?.state;

  it.each([
    ['', {}],
    [', with bufferLogs', { bufferLogs: true }],
  ])('does not keep payments from being made%s', async (_kind, application) => {
    const logger = make(() => (lines += 1));
    const configure = (app: Merchant['app']): void => app.useLogger(logger);
    await start({ application: { ...application }, configure });
    expect(await merchant.payments.doPayment(sale())).toMatchObject({ state: 'succeeded', stored: true });
    expect(await merchant.payments.doPayment(sale('10.51'))).toMatchObject({ state: 'failed' });
    const { conversationId } = await merchant.payments.init3d(sale());
    const { status, headers } = await bring(merchants.simulator.approve(conversationId));
    expect([status, headers.get('location')]).toEqual([303, expect.stringContaining('/paid')]);
    const forged = await fetch(`${merchant.url}/payments/${'A'.repeat(43)}/return`, { method: 'POST' });
    expect(forged.status).toBe(404);
    await expectHarmless();
  });

  it('does not stop the background work, handlers, or what is owed', async () => {
    await start();
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
    await clock.advance(20_000);
    const { told } = merchant.app.get(Shop);
    expect(told.filter((eventId) => eventId.startsWith(owed.conversationId))).toHaveLength(2);
    await expectHarmless();
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { MemoryPaymentStore, type PaymentOptions } from 'nestjs-card-payment';
import { Agent, type Dispatcher } from 'undici';
import { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { PaymentClock } from '../../lib/runtime/clock.js';
import { type AssembledFlows, assembleFlows, TEST_DIALECT } from '../operations/assembled-flows.js';
import { sale } from '../operations/test-shop.js';

const TEN_MINUTES_MS = 600_000;
const START = Date.parse('2026-03-01T12:00:00.000Z');

/** The two clocks of a host, each of which can stand still or jump. A sleep never ends. */
class HostClock extends PaymentClock {
  wall = START;
  passed = 0;

  now(): Date {
    return new Date(this.wall);
  }

  override monotonic(): number {
    return this.passed;
  }

  sleep(): Promise<void> {
    return new Promise(() => undefined);
  }

  /** Advances both clocks. */
  pass(ms: number): void {
    this.wall += ms;
    this.passed += ms;
  }
}

/** An agent with a hook after a request was made and before it is dispatched. */
class DelayingAgent extends Agent {
  beforeDispatch: () => void = () => undefined;

  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.beforeDispatch();
    return super.dispatch(options, handler);
  }
}

describe('a request under a claim', () => {
  let host: HostClock;
  let storeClock: HostClock;
  let store: MemoryPaymentStore;
  let agent: DelayingAgent;
  let transport: GatewayTransport;
  let server: Server;
  /** Operations that reached the gateway. */
  let received: string[];
  /** Called once, while the request is signed. */
  let whileSigning: () => void;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    [host, storeClock] = [new HostClock(), new HostClock()];
    store = new MemoryPaymentStore({ clock: storeClock });
    agent = new DelayingAgent();
    transport = new GatewayTransport({ timeoutMs: 60_000, connectTimeoutMs: 5_000, keepAliveMs: 0, dispatcher: agent });
    received = [];
    whileSigning = () => undefined;
    server = createServer((request, response) => {
      const operation = request.url!.split('/').pop()!;
      received.push(operation);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { conversationId } = JSON.parse(Buffer.concat(chunks).toString()) as { conversationId: string };
        const htmlForm = Buffer.from('<html></html>').toString('base64');
        response.end(JSON.stringify({ code: 'B0000', conversationId, htmlForm, paymentInfo: { amount: '149.90' } }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  function open(options: PaymentOptions = {}): AssembledFlows {
    const { port } = server.address() as AddressInfo;
    const dialect = {
      ...TEST_DIALECT,
      sign: (...given: Parameters<typeof TEST_DIALECT.sign>) => {
        const { operation } = given[1];
        if (operation === 'doPayment' || operation === 'auth3d') whileSigning();
        return TEST_DIALECT.sign(...given);
      },
    };
    const baseUrl = `http://127.0.0.1:${port}`;
    return assembleFlows({ store, clock: host, transport, options: { baseUrl, dialect, ...options } });
  }

  /** What happens to the host. */
  const DISRUPTIONS: Readonly<Record<string, () => void>> = {
    'was suspended for ten minutes (only its wall clock advanced)': () => (host.wall += TEN_MINUTES_MS),
    'was suspended for ten minutes (and its wall clock was set back)': () => (host.wall -= TEN_MINUTES_MS),
    'was blocked for ten minutes (and its wall clock stood still)': () => (host.passed += TEN_MINUTES_MS),
    'was blocked for ten minutes': () => host.pass(TEN_MINUTES_MS),
  };

  /** When this happens. */
  const MOMENTS: Readonly<Record<string, (disruption: () => void) => void>> = {
    'after the claim was written': afterClaim,
    'while the request was signed': (disruption) => (whileSigning = disruption),
    'while the request waited for a connection': (disruption) => (agent.beforeDispatch = disruption),
  };

  function afterClaim(disruption: () => void): void {
    const insert = store.insert.bind(store);
    const replace = store.replace.bind(store);
    store.insert = async (record, ...given) => {
      const taken = await insert(record, ...given);
      if (record.state === 'charging') disruption();
      return taken;
    };
    store.replace = async (record, ...given) => {
      const outcome = await replace(record, ...given);
      if (record.state === 'authorizing') disruption();
      return outcome;
    };
  }

  it.each(
    Object.keys(MOMENTS).flatMap((moment) =>
      Object.keys(DISRUPTIONS).flatMap((disruption) =>
        (['direct', '3d'] as const).map((kind) => [moment, disruption, kind] as const),
      ),
    ),
  )('is not sent if, %s, the host %s: %s', async (moment, disruption, kind) => {
    const { payments } = open();
    const input = sale();
    const disrupt = (): void => MOMENTS[moment]!(() => (storeClock.pass(TEN_MINUTES_MS), DISRUPTIONS[disruption]!()));
    if (kind === '3d') {
      const { conversationId } = await payments.init3d(input);
      disrupt();
      const payment = await payments.auth3d({ conversationId, fields: { conversationId } });
      expect(payment).toMatchObject({ state: 'failed', reason: 'not_sent' });
    } else {
      disrupt();
      await expect(payments.doPayment(input)).rejects.toMatchObject({
        code: 'PAYMENT_NOT_SENT',
        message: expect.stringContaining('held up for too long') as string,
        payment: { state: 'failed', reason: 'not_sent' },
      });
    }
    expect(received).toEqual(kind === '3d' ? ['Init3d'] : []);
    expect(await payments.findByReference(input.reference!)).toMatchObject([{ state: 'failed', stored: true }]);
  });

  it.each([
    [4_000, true],
    [6_000, false],
  ])(
    'is sent %d ms after the time of the store was read, although only the store knows that its claim expired: %s',
    async (age, isSent) => {
      const { payments, time } = open();
      await time.check();
      for (const clock of [host, storeClock]) clock.pass(age);
      // Both clocks of the host stand still, like those of a paused virtual machine.
      afterClaim(() => storeClock.pass(TEN_MINUTES_MS));
      const paying = payments.doPayment(sale()).catch((error: unknown) => error);
      expect(await paying).toMatchObject(isSent ? { state: 'succeeded' } : { code: 'PAYMENT_NOT_SENT' });
      expect(received).toEqual(isSent ? ['DoPayment'] : []);
    },
  );

  it('is not sent if the store does not tell the time', async () => {
    const { payments, time } = open();
    await time.check();
    for (const clock of [host, storeClock]) clock.pass(6_000);
    store.now = () => Promise.reject(new Error('down'));
    await expect(payments.doPayment(sale())).rejects.toMatchObject({ code: 'PAYMENT_NOT_SENT' });
    expect(received).toEqual([]);
  });

  it.each([TEN_MINUTES_MS, -TEN_MINUTES_MS])(
    'is sent although the wall clock was changed by %d ms, if the store says that no time has passed',
    async (ms) => {
      const { payments } = open();
      afterClaim(() => (host.wall += ms));
      expect((await payments.doPayment(sale())).state).toBe('succeeded');
    },
  );

  it('is sent after short delays at every step', async () => {
    const { payments } = open();
    const moment = (): void => {
      for (const clock of [host, storeClock]) clock.pass(900);
    };
    for (const wait of Object.values(MOMENTS)) wait(moment);
    expect((await payments.doPayment(sale())).state).toBe('succeeded');
    const { conversationId } = await payments.init3d(sale());
    expect((await payments.auth3d({ conversationId, fields: { conversationId } })).state).toBe('succeeded');
    expect(received).toEqual(['DoPayment', 'Init3d', 'Auth3d']);
  });
});

import { Logger } from '@nestjs/common';
import { MemoryPaymentStore } from 'nestjs-card-payment';
import { Agent } from 'undici';
import { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { PaymentClock } from '../../lib/runtime/clock.js';
import { type AssembledFlows, assembleFlows, TEST_DIALECT } from '../operations/assembled-flows.js';
import { sale } from '../operations/test-shop.js';
import { answeringGateway } from '../rigs/answering-gateway.js';
import { interceptCalls } from '../rigs/store-calls.js';

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

const MOMENTS = [
  'after the claim was written',
  'while the request was signed',
  'while the request waited for a connection',
] as const;
type Moment = (typeof MOMENTS)[number];

/** What may happen to a host in ten minutes. */
const DISRUPTIONS: Readonly<Record<string, (host: HostClock) => void>> = {
  'was suspended for ten minutes (only its wall clock advanced)': (host) => (host.wall += TEN_MINUTES_MS),
  'was suspended for ten minutes (and its wall clock was set back)': (host) => (host.wall -= TEN_MINUTES_MS),
  'was blocked for ten minutes (and its wall clock stood still)': (host) => (host.passed += TEN_MINUTES_MS),
  'was blocked for ten minutes': (host) => host.pass(TEN_MINUTES_MS),
};

describe('a request under a claim', () => {
  let host: HostClock;
  let storeClock: HostClock;
  let store: MemoryPaymentStore;
  let agent: Agent;
  let gateway: Awaited<ReturnType<typeof answeringGateway>>;
  /** Operations that reached the gateway. */
  let received: string[];
  /** What happens at these moments of a request that moves money. */
  let happens: Record<Moment, () => void>;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    [host, storeClock] = [new HostClock(), new HostClock()];
    store = new MemoryPaymentStore({ clock: storeClock });
    agent = new Agent();
    received = [];
    happens = Object.fromEntries(MOMENTS.map((moment) => [moment, () => undefined])) as typeof happens;
    gateway = await answeringGateway(({ operation, body: { conversationId } }, response) => {
      received.push(operation);
      const htmlForm = Buffer.from('<html></html>').toString('base64');
      response.end(JSON.stringify({ code: 'B0000', conversationId, htmlForm, paymentInfo: { amount: '149.90' } }));
    });
  });
  afterEach(async () => {
    await agent.destroy();
    await gateway.close();
  });

  function open(): AssembledFlows {
    const watchedStore = interceptCalls(store, async ({ args, proceed }) => {
      const outcome = await proceed();
      const { state = '' } = (args[0] ?? {}) as { state?: string };
      if (state === 'charging' || state === 'authorizing') happens['after the claim was written']();
      return outcome;
    });
    const dialect = {
      ...TEST_DIALECT,
      sign: (...given: Parameters<typeof TEST_DIALECT.sign>) => {
        const { operation } = given[1];
        if (operation === 'doPayment' || operation === 'auth3d') happens['while the request was signed']();
        return TEST_DIALECT.sign(...given);
      },
    };
    const dispatcher = agent.compose((dispatch) => (request, handler) => {
      happens['while the request waited for a connection']();
      return dispatch(request, handler);
    });
    const transport = new GatewayTransport({ timeoutMs: 60_000, connectTimeoutMs: 5_000, keepAliveMs: 0, dispatcher });
    const options = { baseUrl: gateway.url, dialect };
    return assembleFlows({ store: watchedStore, clock: host, transport, options });
  }

  it.each(
    MOMENTS.flatMap((moment) =>
      Object.keys(DISRUPTIONS).flatMap((disruption) =>
        (['direct', '3d'] as const).map((kind) => [moment, disruption, kind] as const),
      ),
    ),
  )('is not sent if, %s, the host %s: %s', async (moment, disruption, kind) => {
    const { payments } = open();
    const input = sale();
    const disrupt = (): void => {
      happens[moment] = () => (storeClock.pass(TEN_MINUTES_MS), DISRUPTIONS[disruption]!(host));
    };
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
      happens['after the claim was written'] = () => storeClock.pass(TEN_MINUTES_MS);
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
      happens['after the claim was written'] = () => (host.wall += ms);
      expect((await payments.doPayment(sale())).state).toBe('succeeded');
    },
  );

  it('is sent after short delays at every step', async () => {
    const { payments } = open();
    for (const moment of MOMENTS) {
      happens[moment] = () => {
        for (const clock of [host, storeClock]) clock.pass(900);
      };
    }
    expect((await payments.doPayment(sale())).state).toBe('succeeded');
    const { conversationId } = await payments.init3d(sale());
    expect((await payments.auth3d({ conversationId, fields: { conversationId } })).state).toBe('succeeded');
    expect(received).toEqual(['DoPayment', 'Init3d', 'Auth3d']);
  });
});

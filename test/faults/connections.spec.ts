import { MemoryPaymentStore, type PaymentOptions } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { Agent } from 'undici';
import { CLOSED_AFTERWARDS, RESET_AT_NEXT } from '../rigs/odd-answers.js';
import { sale } from '../rigs/sale.js';
import { selfSigned } from '../rigs/certificates.js';
import { type Endpoint, ENDPOINTS, GIVE_BACKS, Shop } from './shop.js';
import { closedPort, drippingServer, gate, type Listener, rawServer, tlsServer } from '../rigs/sockets.js';

const CERTIFICATE = selfSigned('127.0.0.1');
const TRUSTING = { ca: CERTIFICATE.cert };
const LONG = 60_000;
const SHORT = 300;

let simulator: Simulator;
/** A shop on the same store with a sound connection: it starts the payments whose Auth3d is to meet the fault. */
let sound: Shop;
const store = new MemoryPaymentStore();

describe('connections', () => {
  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    sound = await Shop.open(simulator, { store });
  });
  afterAll(async () => {
    await sound.close();
    await simulator.close();
  });

  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    simulator.reset();
  });

  function whenDone<T>(close: () => Promise<unknown>, thing: T): T {
    closing.push(close);
    return thing;
  }

  /** A shop on the store of the sound one. */
  async function shopWith(options: PaymentOptions): Promise<Shop> {
    // What the sound shop made is this shop's own, wherever its gateway is.
    const shop = await Shop.open(simulator, { store, formerBaseUrls: [simulator.url], ...options });
    return whenDone(() => shop.close(), shop);
  }

  async function listening<T extends Listener>(server: Promise<T>): Promise<T> {
    const listener = await server;
    return whenDone(() => listener.close(), listener);
  }

  function dispatcher(options: Agent.Options): Agent {
    const agent = new Agent(options);
    return whenDone(() => agent.destroy(), agent);
  }

  const https = ({ port }: Listener): string => `https://127.0.0.1:${port}`;

  describe('not sent', () => {
    const networks: [string, () => Promise<Network>][] = [
      ['refused', async () => ({ options: { baseUrl: `http://127.0.0.1:${await closedPort()}` } })],
      ['name not found', () => Promise.resolve({ options: { baseUrl: 'https://nonexistent.invalid' } })],
      [
        'TLS refused: a certificate of an unknown authority',
        async () => {
          const server = await listening(tlsServer(CERTIFICATE));
          return { options: { baseUrl: https(server) }, received: server.received };
        },
      ],
      [
        'TLS refused: a gateway that speaks no TLS',
        () => Promise.resolve({ options: { baseUrl: simulator.url.replace('http:', 'https:') } }),
      ],
      [
        'TLS refused: no client certificate, TLS 1.2',
        async () => {
          const server = await listening(
            tlsServer({ ...CERTIFICATE, ...TRUSTING, requestCert: true, maxVersion: 'TLSv1.2' }),
          );
          const options = { baseUrl: https(server), dispatcher: dispatcher({ connect: TRUSTING }) };
          return { options, received: server.received };
        },
      ],
      [
        'connect time-out: a handshake that stalls',
        async () => {
          const server = await listening(rawServer());
          return { options: { baseUrl: https(server), timeoutMs: LONG, connectTimeoutMs: SHORT } };
        },
      ],
      [
        'deadline while still connecting',
        async () => {
          const server = await listening(rawServer());
          return { options: { baseUrl: https(server), timeoutMs: SHORT, connectTimeoutMs: LONG } };
        },
      ],
      [
        'deadline while queued',
        async () => {
          const server = await listening(rawServer());
          const baseUrl = `http://127.0.0.1:${server.port}`;
          const agent = dispatcher({ connections: 1 });
          agent.request({ origin: baseUrl, path: '/slow', method: 'GET' }).catch(() => undefined);
          const options = { baseUrl, timeoutMs: SHORT, dispatcher: agent };
          return { options, received: () => server.received().replace(/^GET \/slow[^]*?\r\n\r\n/, '') };
        },
      ],
    ];

    describe.each(networks)('%s', (_name, network) => {
      it.each(['DoPayment', 'Init3d'] as const)(
        '%s throws, and can be repeated without a second charge',
        async (endpoint) => {
          const { options, received = () => '' } = await network();
          const shop = await shopWith(options);
          const { payment, thrown } = await shop.call(endpoint);
          expect([payment.state, payment.reason, thrown]).toEqual(['failed', 'not_sent', 'PaymentNotSentError']);
          expect(await shop.payments.find(payment.conversationId)).toEqual(payment);
          const again = await sound.payments.doPayment(sale('149.90', { reference: payment.reference ?? undefined }));
          expect(again.state).toBe('succeeded');
          expect(received()).toBe('');
          expect(simulator.ledger.charges).toHaveLength(1);
        },
      );

      it.each(GIVE_BACKS)('%s throws, and can be repeated without giving back twice', async (kind) => {
        const payment = await sound.paid();
        const { options, received = () => '' } = await network();
        const shop = await shopWith(options);
        const idempotencyKey = `key of ${payment.conversationId}`;
        const { refund, thrown } = await shop.giveBack(kind, payment, { idempotencyKey });
        expect([refund.state, refund.reason, thrown]).toEqual(['failed', 'not_sent', 'PaymentNotSentError']);
        expect(await shop.payments.refunds(payment.conversationId)).toEqual([refund]);
        // The id is used up, and the key is free again.
        expect((await sound.giveBack(kind, payment, { refundId: refund.refundId })).refund).toEqual(refund);
        expect(simulator.ledger.refunds).toEqual([]);
        const again = await sound.giveBack(kind, payment, { idempotencyKey });
        expect(again.refund.state).toBe('succeeded');
        expect((await sound.giveBack(kind, payment, { idempotencyKey })).refund).toEqual(again.refund);
        expect(received()).toBe('');
        expect([simulator.ledger.refunds.length, simulator.ledger.violations]).toEqual([1, []]);
      });

      it('Auth3d is tried for ten seconds at most, fails, and is never claimed again', async () => {
        const { options, received = () => '' } = await network();
        const shop = await shopWith(options);
        const { payment } = await shop.call('Auth3d', sound);
        expect([payment.state, payment.reason]).toEqual(['failed', 'not_sent']);
        // Fewer where each try takes its time.
        expect(shop.pauses).toBeLessThanOrEqual(4);
        const again = await sound.complete(payment.conversationId);
        expect(again.payment).toEqual(payment);
        expect(received()).toBe('');
        expect([simulator.ledger.calls('Auth3d'), simulator.ledger.charges]).toEqual([0, []]);
      });
    });

    it('an Auth3d that could not connect is tried again when the gateway is back', async () => {
      const port = await closedPort();
      const shop = await shopWith({ baseUrl: `http://127.0.0.1:${port}` });
      shop.onPause = async () => {
        await listening(gate(simulator.port, { port }));
      };
      const { payment } = await shop.call('Auth3d', sound);
      expect([payment.state, shop.pauses]).toEqual(['succeeded', 1]);
      expect([simulator.ledger.calls('Auth3d'), simulator.ledger.violations]).toEqual([1, []]);
    });

    it.each(ENDPOINTS)(
      '%s: nothing is sent after the deadline, even when the gateway accepts then',
      async (endpoint) => {
        const gateway = await startSimulator({ dialect: 'morpos', tls: CERTIFICATE });
        whenDone(() => gateway.close(), null);
        let open = (): void => undefined;
        const opened = new Promise<void>((resolve) => (open = resolve));
        const stalled = await listening(gate(gateway.port, { open: opened }));
        const agent = dispatcher({ connections: 1, connect: TRUSTING });
        const shop = await shopWith({ baseUrl: https(stalled), timeoutMs: SHORT, dispatcher: agent });
        const { payment } = await shop.call(endpoint, sound);
        expect([payment.state, payment.reason]).toEqual(['failed', 'not_sent']);

        // Queued on the same connection, behind the request that must not be sent.
        const next = agent.request({ origin: https(stalled), path: '/next', method: 'GET' });
        open();
        await (await next).body.dump();
        expect(gateway.requests.map(({ path }) => path)).toEqual(['/next']);
      },
    );

    it.each(GIVE_BACKS)('%s: nothing is sent after the deadline, even when the gateway accepts then', async (kind) => {
      const payment = await sound.paid();
      const gateway = await startSimulator({ dialect: 'morpos', tls: CERTIFICATE });
      whenDone(() => gateway.close(), null);
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      const stalled = await listening(gate(gateway.port, { open: opened }));
      const agent = dispatcher({ connections: 1, connect: TRUSTING });
      const shop = await shopWith({ baseUrl: https(stalled), timeoutMs: SHORT, dispatcher: agent });
      const { refund, thrown } = await shop.giveBack(kind, payment);
      expect([refund.state, refund.reason, thrown]).toEqual(['failed', 'not_sent', 'PaymentNotSentError']);
      const next = agent.request({ origin: https(stalled), path: '/next', method: 'GET' });
      open();
      await (await next).body.dump();
      expect(gateway.requests.map(({ path }) => path)).toEqual(['/next']);
    });
  });

  describe('sent, and no answer', () => {
    const lost = (endpoint: Endpoint): unknown[] =>
      endpoint === 'Init3d' ? ['failed', 'no_answer', 'PaymentInit3dError'] : ['unknown', 'no_answer', null];

    it.each(ENDPOINTS)('%s: TLS client certificate refused after the request (TLS 1.3)', async (endpoint) => {
      const server = await listening(
        tlsServer({ ...CERTIFICATE, ...TRUSTING, requestCert: true, minVersion: 'TLSv1.3' }),
      );
      const shop = await shopWith({ baseUrl: https(server), dispatcher: dispatcher({ connect: TRUSTING }) });
      const { payment, thrown } = await shop.call(endpoint, sound);
      expect([payment.state, payment.reason, thrown]).toEqual(lost(endpoint));
      expect([server.connections(), shop.pauses]).toEqual([1, 0]);
    });

    it.each(ENDPOINTS)('%s: pooled connection closed by the gateway as it is written', async (endpoint) => {
      const shop = await shopWith({});
      const conversationId = await sound.awaiting();
      simulator.fail({ operation: 'DoPayment', ...RESET_AT_NEXT });
      const before = await shop.payments.doPayment(sale());
      // A connection is free for the next request in the next turn.
      await new Promise(setImmediate);

      const { payment, thrown } =
        endpoint === 'Auth3d' ? await shop.complete(conversationId) : await shop.call(endpoint);
      expect([payment.state, payment.reason, thrown]).toEqual(lost(endpoint));
      // It was written on the kept connection, where the simulator no longer listens, and not once more on another.
      expect(simulator.requests.map(({ operation }) => operation)).toEqual(['Init3d', 'DoPayment']);
      expect(before.state).toBe('succeeded');
      expect(simulator.ledger.chargedTimes(payment.conversationId)).toBe(0);
    });

    it('connections that end as the next request leaves: charged once, or unknown', async () => {
      simulator.fail({ operation: 'DoPayment', ...CLOSED_AFTERWARDS, times: 100 });
      for (let count = 0; count < 100; count += 1) {
        const { state, conversationId } = await sound.payments.doPayment(sale());
        const { state: settled } = state === 'unknown' ? await sound.payments.inquire(conversationId) : { state };
        expect(settled).toBe(simulator.ledger.chargedTimes(conversationId) === 1 ? 'succeeded' : 'unknown');
      }
      expect([simulator.ledger.calls('DoPayment'), simulator.ledger.violations]).toEqual([100, []]);
    });

    it.each(ENDPOINTS)('%s: the deadline is kept while an answer arrives byte by byte', async (endpoint) => {
      const server = await listening(drippingServer());
      const shop = await shopWith({ baseUrl: `http://127.0.0.1:${server.port}`, timeoutMs: SHORT });
      const { payment, thrown } = await shop.call(endpoint, sound);
      expect([payment.state, payment.reason, thrown]).toEqual(lost(endpoint));
      expect(server.received().match(/POST \//g)).toHaveLength(1);
    });

    describe.each(GIVE_BACKS)('%s', (kind) => {
      const unknown = ['unknown', 'no_answer', null];

      it('TLS client certificate refused after the request (TLS 1.3)', async () => {
        const payment = await sound.paid();
        const server = await listening(
          tlsServer({ ...CERTIFICATE, ...TRUSTING, requestCert: true, minVersion: 'TLSv1.3' }),
        );
        const shop = await shopWith({ baseUrl: https(server), dispatcher: dispatcher({ connect: TRUSTING }) });
        const { refund, thrown } = await shop.giveBack(kind, payment);
        expect([refund.state, refund.reason, thrown]).toEqual(unknown);
        expect(server.connections()).toBe(1);
      });

      it('pooled connection closed by the gateway as it is written', async () => {
        const shop = await shopWith({});
        simulator.fail({ operation: 'DoPayment', ...RESET_AT_NEXT });
        const payment = await shop.paid();
        // A connection is free for the next request in the next turn.
        await new Promise(setImmediate);
        const { refund, thrown } = await shop.giveBack(kind, payment);
        expect([refund.state, refund.reason, thrown]).toEqual(unknown);
        expect(simulator.requests.map(({ operation }) => operation)).toEqual(['DoPayment']);
        expect(simulator.ledger.refunds).toEqual([]);
      });

      it('connections that end as the next request leaves: given back once, or unknown', async () => {
        simulator.fail({ operation: 'any', ...CLOSED_AFTERWARDS, times: 100 });
        for (let count = 0; count < 50; count += 1) {
          const payment = await sound.payments.doPayment(sale());
          if (payment.state !== 'succeeded') continue;
          const { refund } = await sound.giveBack(kind, payment);
          expect(refund.state).toBe(simulator.ledger.refundedTimes(refund.refundId) === 1 ? 'succeeded' : 'unknown');
        }
        expect(simulator.ledger.violations).toEqual([]);
      });

      it('the deadline is kept while an answer arrives byte by byte', async () => {
        const payment = await sound.paid();
        const server = await listening(drippingServer());
        const shop = await shopWith({ baseUrl: `http://127.0.0.1:${server.port}`, timeoutMs: SHORT });
        const { refund, thrown } = await shop.giveBack(kind, payment);
        expect([refund.state, refund.reason, thrown]).toEqual(unknown);
        expect(server.received().match(/POST \//g)).toHaveLength(1);
      });
    });
  });
});

interface Network {
  readonly options: PaymentOptions;
  /** What came over the wire that should not have. */
  readonly received?: () => string;
}

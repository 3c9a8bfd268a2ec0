import type { TlsOptions } from 'node:tls';
import { MemoryPaymentStore, type Payment, type PaymentOptions, type Refund } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { Agent } from 'undici';
import { RESET_AT_NEXT } from '../rigs/odd-answers.js';
import { sale } from '../rigs/sale.js';
import { selfSigned } from '../rigs/certificates.js';
import { isRefund, OPERATIONS, Shop, startErrorOf, type Subject } from './shop.js';
import { closedPort, drippingServer, gate, type Listener, rawServer, tlsServer } from '../rigs/sockets.js';

const CERTIFICATE = selfSigned('127.0.0.1');
const TRUSTING = { ca: CERTIFICATE.cert };
/** No case waits for it, unless what it tests is broken. */
const LONG = 15_000;
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
    const shop = await Shop.open(simulator, { store, formerBaseUrls: [simulator.url], timeoutMs: LONG, ...options });
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
    const at = (baseUrl: string): Network => ({ options: { baseUrl } });

    /** A gateway with TLS, which hears nothing but what comes after the handshake. */
    async function behindTls(server: TlsOptions, options: () => PaymentOptions = () => ({})): Promise<Network> {
      const listener = await listening(tlsServer({ ...CERTIFICATE, ...server }));
      return { options: { baseUrl: https(listener), ...options() }, received: listener.received };
    }

    /** A gateway whose handshake stalls. */
    async function stalling(options: PaymentOptions): Promise<Network> {
      return { options: { baseUrl: https(await listening(rawServer())), ...options } };
    }

    const networks: [string, () => Network | Promise<Network>][] = [
      ['refused', async () => at(`http://127.0.0.1:${await closedPort()}`)],
      ['name not found', () => at('https://nonexistent.invalid')],
      ['TLS refused: a certificate of an unknown authority', () => behindTls({})],
      ['TLS refused: a gateway that speaks no TLS', () => at(simulator.url.replace('http:', 'https:'))],
      [
        'TLS refused: no client certificate, TLS 1.2',
        () =>
          behindTls({ ...TRUSTING, requestCert: true, maxVersion: 'TLSv1.2' }, () => ({
            dispatcher: dispatcher({ connect: TRUSTING }),
          })),
      ],
      ['connect time-out', () => stalling({ timeoutMs: LONG, connectTimeoutMs: SHORT })],
      ['deadline while still connecting', () => stalling({ timeoutMs: SHORT, connectTimeoutMs: LONG })],
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
      it.each(OPERATIONS)('%s can be repeated without moving money twice', async (operation) => {
        const subject = await sound.prepare(operation);
        const { options, received = () => '' } = await network();
        const shop = await shopWith(options);
        const idempotencyKey = `key of ${subject.payment?.conversationId}`;
        const { record, thrown } = await shop.call(subject, { idempotencyKey });
        // Its buyer is at the bank, and is answered: an Auth3d does not throw.
        const isThrown = operation !== 'Auth3d';
        const expected = ['failed', 'not_sent', isThrown ? 'PaymentNotSentError' : null];
        expect([record.state, record.reason, thrown]).toEqual(expected);
        expect(await shop.kept(record)).toEqual([record]);
        // Within ten seconds, and fewer where each try takes its time.
        expect(shop.clock.pauses).toBeLessThanOrEqual(isThrown ? 0 : 4);
        await expectRepeatable(subject, record, idempotencyKey);
        expect(received()).toBe('');
      });
    });

    async function expectRepeatable(subject: Subject, record: Payment | Refund, idempotencyKey: string): Promise<void> {
      const { ledger } = simulator;
      if (isRefund(record)) {
        // The id is used up, and the key is free again.
        expect((await sound.call(subject, { refundId: record.refundId })).record).toEqual(record);
        expect(ledger.refunds).toEqual([]);
        const again = (await sound.call(subject, { idempotencyKey })).record;
        expect(again.state).toBe('succeeded');
        expect((await sound.call(subject, { idempotencyKey })).record).toEqual(again);
        expect([ledger.refunds.length, ledger.violations]).toEqual([1, []]);
        return;
      }
      if (subject.operation === 'Auth3d') {
        // It is never claimed again.
        expect((await sound.call(subject)).record).toEqual(record);
        expect([ledger.calls('Auth3d'), ledger.charges]).toEqual([0, []]);
      }
      expect((await sound.call({ ...subject, operation: 'DoPayment' })).record.state).toBe('succeeded');
      expect(ledger.charges).toHaveLength(1);
    }

    it('an Auth3d that could not connect is tried again when the gateway is back', async () => {
      const port = await closedPort();
      const shop = await shopWith({ baseUrl: `http://127.0.0.1:${port}` });
      shop.clock.onPause = async () => {
        await listening(gate(simulator.port, { port }));
      };
      const { record } = await shop.call(await sound.prepare('Auth3d'));
      expect([record.state, shop.clock.pauses]).toEqual(['succeeded', 1]);
      expect([simulator.ledger.calls('Auth3d'), simulator.ledger.violations]).toEqual([1, []]);
    });

    it.each(OPERATIONS)('%s is not sent after the deadline, even when the gateway accepts then', async (operation) => {
      const subject = await sound.prepare(operation);
      const gateway = await startSimulator({ dialect: 'morpos', tls: CERTIFICATE });
      whenDone(() => gateway.close(), null);
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      const stalled = await listening(gate(gateway.port, { open: opened }));
      const agent = dispatcher({ connections: 1, connect: TRUSTING });
      const shop = await shopWith({ baseUrl: https(stalled), timeoutMs: SHORT, dispatcher: agent });
      const { record, thrown } = await shop.call(subject);
      const expected = ['failed', 'not_sent', operation === 'Auth3d' ? null : 'PaymentNotSentError'];
      expect([record.state, record.reason, thrown]).toEqual(expected);

      // Queued on the same connection, behind the request that must not be sent.
      const next = agent.request({ origin: https(stalled), path: '/next', method: 'GET' });
      open();
      await (await next).body.dump();
      expect(gateway.requests.map(({ path }) => path)).toEqual(['/next']);
    });
  });

  describe('sent, and no answer', () => {
    /** Calls the operation, whose outcome is not known then. No money can move by a request for a page. */
    async function expectLost(shop: Shop, subject: Subject): Promise<Payment | Refund> {
      const { record, thrown } = await shop.call(subject);
      const startError = startErrorOf(subject.operation);
      const state = startError === null ? 'unknown' : 'failed';
      expect([record.state, record.reason, thrown]).toEqual([state, 'no_answer', startError]);
      return record;
    }

    it.each(OPERATIONS)('%s: TLS client certificate refused after the request (TLS 1.3)', async (operation) => {
      const subject = await sound.prepare(operation);
      const server = await listening(
        tlsServer({ ...CERTIFICATE, ...TRUSTING, requestCert: true, minVersion: 'TLSv1.3' }),
      );
      const shop = await shopWith({ baseUrl: https(server), dispatcher: dispatcher({ connect: TRUSTING }) });
      await expectLost(shop, subject);
      expect([server.connections(), shop.clock.pauses]).toEqual([1, 0]);
    });

    it.each(OPERATIONS)('%s: pooled connection closed by the gateway as it is written', async (operation) => {
      const subject = await sound.prepare(operation);
      const shop = await shopWith({});
      simulator.fail({ operation: 'DoPayment', ...RESET_AT_NEXT });
      expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
      const { length } = simulator.requests;
      // A connection is free for the next request in the next turn.
      await new Promise(setImmediate);
      const record = await expectLost(shop, subject);
      // It was written on the kept connection, where the simulator no longer listens, and not once more on another.
      expect([simulator.requests.length, sound.moved(record)]).toEqual([length, 0]);
    });

    it.each(OPERATIONS)('%s: the deadline is kept while an answer arrives byte by byte', async (operation) => {
      const subject = await sound.prepare(operation);
      const server = await listening(drippingServer());
      await expectLost(await shopWith({ baseUrl: `http://127.0.0.1:${server.port}`, timeoutMs: SHORT }), subject);
      expect(server.received().match(/POST \//g)).toHaveLength(1);
    });
  });
});

interface Network {
  readonly options: PaymentOptions;
  /** What came over the wire that should not have. */
  readonly received?: () => string;
}

import { MemoryPaymentStore, PAYMENT_HTTP, type PaymentOptions } from 'nestjs-card-payment';
import type { HttpService } from '@nestjs/axios';
import type { AxiosError } from 'axios';
import { type FaultOptions, type FaultPlay, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { Agent, interceptors, RetryAgent } from 'undici';
import { goodEndOf, type Operation, OPERATIONS, Shop, startErrorOf } from './shop.js';
import { type RawServer, rawServer } from '../rigs/sockets.js';

let simulator: Simulator;
let elsewhere: RawServer;
let sound: Shop;
const store = new MemoryPaymentStore();

describe('hosts', () => {
  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    elsewhere = await rawServer();
    sound = await Shop.open(simulator, { store });
  });
  afterEach(() => simulator.reset());
  afterAll(async () => {
    await sound.close();
    await elsewhere.close();
    await simulator.close();
  });

  const agents: Agent[] = [];
  afterAll(() => Promise.all(agents.map((agent) => agent.destroy())));

  function agent(): Agent {
    const fresh = new Agent();
    agents.push(fresh);
    return fresh;
  }

  const RETRIES = 3;
  const retry = { maxRetries: RETRIES, minTimeout: 1, maxTimeout: 2, methods: ['POST'], statusCodes: [500, 503, 307] };

  const HOST_NETWORKS: [string, HostNetwork][] = [
    [
      'an axios interceptor that sends again what failed',
      {
        intercept: ({ axiosRef }) => {
          let retries = 0;
          const again = (error: AxiosError): unknown =>
            (retries += 1) <= RETRIES && error.config ? axiosRef.request(error.config) : Promise.reject(error);
          axiosRef.interceptors.response.use(undefined, again);
        },
      },
    ],
    [
      'an axios interceptor that sends again what was answered',
      {
        intercept: ({ axiosRef }) => {
          axiosRef.interceptors.response.use((response) => axiosRef.request(response.config).catch(() => response));
        },
      },
    ],
    ['RetryAgent', { options: () => ({ dispatcher: new RetryAgent(agent(), retry) }) }],
    ['the retry interceptor', { options: () => ({ dispatcher: agent().compose(interceptors.retry(retry)) }) }],
    [
      'the redirect interceptor',
      { options: () => ({ dispatcher: agent().compose(interceptors.redirect({ maxRedirections: 5 })) }) },
    ],
  ];

  const FAULTS: [string, FaultPlay & Pick<FaultOptions, 'at'>][] = [
    ['reset before the work', { kind: 'reset', at: 'before' }],
    ['reset in the middle', { kind: 'reset', at: 'middle' }],
    ['reset after the work', { kind: 'reset' }],
    ['half an answer', { kind: 'half-reply' }],
    ['503', { kind: 'status', status: 503 }],
    ...[301, 302, 307, 308].map((status): [string, FaultPlay] => [`${status}`, redirection(status)]),
  ];

  describe.each(HOST_NETWORKS)('through %s', (_name, { options = () => ({}), intercept }) => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await Shop.open(simulator, { store, timeoutMs: 10_000, ...options() });
      intercept?.(shop.app.get<HttpService>(PAYMENT_HTTP));
    });
    afterAll(() => shop.close());

    describe.each(OPERATIONS)('%s', (operation) => {
      it.each(FAULTS)('%s: the request is transmitted once', async (_fault, play) => {
        const subject = await sound.prepare(operation);
        simulator.fail({ operation, ...play });
        const { record, thrown } = await shop.call(subject);
        expectOneTransmission(operation);
        expect(elsewhere.received()).toBe('');
        const startError = startErrorOf(operation);
        expect([record.state, thrown]).toEqual([startError === null ? 'unknown' : 'failed', startError]);
      });

      it('no fault: the request is transmitted once, and the outcome is right', async () => {
        const { record, thrown } = await shop.call(await sound.prepare(operation));
        expectOneTransmission(operation);
        expect([record.state, thrown]).toEqual([goodEndOf(operation), null]);
      });
    });

    function expectOneTransmission(operation: Operation): void {
      const { ledger } = simulator;
      expect(ledger.violations).toEqual([]);
      expect(ledger.calls(operation)).toBe(1);
    }
  });
});

/** What a host places between the module and the gateway. */
interface HostNetwork {
  readonly options?: () => PaymentOptions;
  readonly intercept?: (http: HttpService) => void;
}

/** To a server that must hear nothing. */
function redirection(status: number): FaultPlay {
  return {
    kind: 'send',
    send: (response) => response.writeHead(status, { location: `http://127.0.0.1:${elsewhere.port}/` }).end(),
  };
}

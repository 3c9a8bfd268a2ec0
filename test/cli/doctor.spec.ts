import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { startSimulator } from 'nestjs-card-payment/simulator';
import { checkClock } from '../../lib/cli/doctor-gateway.js';
import { targetOf } from '../../lib/cli/doctor-settings.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { startMerchant, useMerchant } from '../e2e/merchant.js';
import { selfSigned } from '../rigs/certificates.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { type Listener, listen, rawServer } from '../rigs/sockets.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import { refusal } from '../options/resolve.js';
import { cli, cliHere } from './cli.js';

interface Check {
  readonly check: string;
  readonly status: 'ok' | 'failed' | 'skipped';
  readonly message: string;
  readonly advice: string | null;
}

const CLIENT_SECRET = 'Y2xpZW50LXNlY3JldC1vZi10aGUtdGVzdA==';
const CREDENTIALS = {
  merchantId: 'M-100200',
  clientId: 'client-1',
  clientSecret: CLIENT_SECRET,
  apiKey: 'the-api-key-77',
};
const SECRETS = [CLIENT_SECRET, CLIENT_SECRET.slice(0, 12), 'client-secret-of-the-test', 'the-api-key-77', 'geheim'];

describe('doctor', () => {
  const { path: cwd, file, remove } = makeScratchFolder('cli');
  const storeUrl = `sqlite:${file('payments.sqlite')}`;
  const merchant = useMerchant({
    platform: 'express',
    gateway: { credentials: CREDENTIALS },
    options: { storeUrl, background: false },
  });
  /** What the merchant set. */
  let env: Readonly<Record<string, string>>;
  const servers: Pick<Listener, 'close'>[] = [];
  /** A test that is about the process sets this to `cli`. */
  let runner = cliHere;

  beforeAll(() => {
    env = { ...variablesOf(merchant.simulator), PAYMENT_PUBLIC_URL: merchant.url, PAYMENT_STORE_URL: storeUrl };
  });
  afterAll(remove);
  afterEach(async () => {
    runner = cliHere;
    for (const server of servers.splice(0)) await server.close();
  });

  /** Runs it; whatever it says, no secret is in it. */
  async function doctor(change: Readonly<Record<string, string>> = {}, ...words: string[]) {
    const { status, stdout, stderr } = await runner(['doctor', ...words], { cwd, env: { ...env, ...change } });
    for (const secret of SECRETS) expect(stdout + stderr).not.toContain(secret);
    return { status, stdout, stderr };
  }

  /** The checks by name, of those that did not go well alone. */
  async function troubles(change: Readonly<Record<string, string>>, ...words: string[]) {
    const { status, stdout, stderr } = await doctor(change, '--json', ...words);
    expect(stderr).toBe('');
    const report = JSON.parse(stdout) as { ok: boolean; account: string; checks: Check[] };
    const isFailed = report.checks.some((one) => one.status === 'failed');
    expect([status, report.ok]).toEqual(isFailed ? [1, false] : [0, true]);
    return report.checks.filter(({ check, status }) => status !== 'ok' && check !== 'environment');
  }

  async function hostOf(listening: Promise<Listener>): Promise<string> {
    const listener = await listening;
    servers.push(listener);
    return `127.0.0.1:${listener.port}`;
  }

  const web = async (answer: RequestListener) => `http://${await hostOf(listen(createServer(answer)))}`;

  it('finds nothing wrong with a set-up that works', async () => {
    const { status, stdout } = await doctor();
    expect(stdout).toContain(`✓ callback     ${merchant.url}/payments is answered by this module\n`);
    expect(stdout).toContain('\nAll that could be checked is right.\n');
    expect([status, await troubles({})]).toEqual([0, []]);
  });

  const COMPLETE = {
    PAYMENT_BASE_URL: 'https://gateway.invalid',
    PAYMENT_MERCHANT_ID: 'M-1',
    PAYMENT_CLIENT_ID: 'C-1',
    PAYMENT_CLIENT_SECRET: 'geheim',
    PAYMENT_API_KEY: 'geheim',
    PAYMENT_PUBLIC_URL: 'https://shop.invalid',
  };

  it.each<[string, Readonly<Record<string, string>>]>([
    ['the dialect forgotten by who comes from simulator:', COMPLETE],
    ['a mistyped variable', { PAYMENT_BASE_URL: 'https://gateway.invalid', PAYMENT_MERCHANTID: '1' }],
  ])('reports what stops the application, with its hints: %s', async (_what, environment) => {
    const stopped = refusal(() => resolveSettings({}, {}, environment));
    const words = ['doctor', '--json', '--skip', 'gateway,callback,clock,store'];
    const { status, stdout } = await cliHere(words, { cwd: '/', env: environment });
    expect(status).toBe(1);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    const settings = checks.filter((one) => one.check === 'settings');
    expect(settings.map((one) => [one.status, one.message])).toEqual(
      stopped.problems.map(({ option, variable, message }) => [
        'failed',
        `${option}${variable ? ` (${variable})` : ''} ${message}`,
      ]),
    );
    const shown = checks.map(({ message, advice }) => `${message} ${advice}`).join();
    for (const hint of stopped.hints) expect(shown).toContain(hint.replace(/\.$/, ''));
  });

  it('shows no secret that a gateway sends back, and judges what is not clear as that', async () => {
    const echo = await web((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const text = `${body} ${JSON.stringify(request.headers)} ${CLIENT_SECRET} the-api-key-77`;
        response.end(JSON.stringify({ responseCode: 'B0005', responseDescription: text }));
      });
    });
    expect(await troubles({ PAYMENT_BASE_URL: echo })).toEqual([
      expect.objectContaining({ check: 'credentials', status: 'skipped' }),
    ]);
  });

  describe('the gateway', () => {
    const OTHERS = ['--skip', 'callback,store'];

    it('takes a request and does not answer', async () => {
      const message =
        /^The payment gateway at \S+ gave no readable answer \((ECONNRESET|UND_ERR_SOCKET), checkBin\)\.$/;
      merchant.simulator.fail({ operation: 'CheckBin', kind: 'reset' });
      expect(await troubles({}, ...OTHERS)).toEqual([
        {
          check: 'gateway',
          status: 'failed',
          message: expect.stringMatching(message) as string,
          advice: expect.stringMatching(/^A simulator\? Start it: .* (See|raise) .*PAYMENT_/) as string,
        },
        { check: 'credentials', status: 'skipped', message: 'not known: the gateway gave no answer', advice: null },
      ]);
      merchant.simulator.reset();
    });

    it('has a certificate that is good, of nobody, or for another name', async () => {
      const certificate = selfSigned('127.0.0.1');
      writeFileSync(file('ca.pem'), certificate.cert);
      const good = await startSimulator({ dialect: 'morpos', credentials: CREDENTIALS, tls: certificate });
      servers.push(good);
      const other = good.url.replace('127.0.0.1', 'localhost');
      const NODE_EXTRA_CA_CERTS = file('ca.pem');
      // Asked about a BIN with the dialect "morpos", for its root path alone with "standard".
      for (const PAYMENT_DIALECT of ['morpos', 'standard']) {
        const change = { PAYMENT_DIALECT, PAYMENT_BASE_URL: good.url };
        const [unknown] = await troubles(change, ...OTHERS);
        expect(unknown).toMatchObject({ check: 'gateway', status: 'failed' });
        expect(unknown?.message).toContain('(DEPTH_ZERO_SELF_SIGNED_CERT');
        // Meant for something else, it does not make a bad certificate a good one.
        const careless = { ...env, ...change, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
        const insecure = await cliHere(['doctor', '--json', ...OTHERS], { cwd, env: careless });
        expect(insecure.stdout).toContain('(DEPTH_ZERO_SELF_SIGNED_CERT');
      }
      // Node.js reads NODE_EXTRA_CA_CERTS when it starts.
      runner = cli;
      const [[foreign], { status, stdout }] = await Promise.all([
        troubles({ PAYMENT_BASE_URL: other, NODE_EXTRA_CA_CERTS }, ...OTHERS),
        doctor({ PAYMENT_BASE_URL: good.url, NODE_EXTRA_CA_CERTS }, '--skip', 'callback'),
      ]);
      expect(foreign?.message).toContain('(ERR_TLS_CERT_ALTNAME_INVALID');
      // The time is of the root path.
      expect(stdout).toMatch(/^✓ gateway {6}127\.0\.0\.1:\d+ is reached\n✓ clock {8}agrees with the gateway's$/m);
      expect(status).toBe(0);
    });

    it('is an hour ahead', async () => {
      const PAYMENT_BASE_URL = await web((_request, response) => {
        response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString());
        response.end('{"responseCode":"B0000"}');
      });
      const [only] = await troubles({ PAYMENT_BASE_URL }, ...OTHERS);
      expect(only).toMatchObject({ check: 'clock', status: 'failed' });
      expect(only?.message).toMatch(/^(3599|3600|3601) seconds behind the gateway's$/);
      expect(only?.advice).toContain('NTP');
    });
  });

  it('compares the clock with the one of the store', async () => {
    const store = { now: () => Promise.resolve(new Date(Date.now() - 60_000)) } as PaymentStore;
    const target = targetOf('default', {}, 1000);
    expect(await checkClock(target, null, store)).toMatchObject([
      { status: 'failed', message: "60 seconds ahead of the store's" },
    ]);
  });

  describe('the callback', () => {
    const OTHERS = ['--skip', 'store,gateway,clock,credentials'];

    it('below a prefix that is set in code is found where it is said to be', async () => {
      const prefixed = await startMerchant('fastify', merchant.simulator, {
        options: { background: false, language: 'en' },
        configure: (app) => void app.setGlobalPrefix('api'),
      });
      try {
        const PAYMENT_PUBLIC_URL = prefixed.url;
        const [only] = await troubles({ PAYMENT_PUBLIC_URL }, ...OTHERS);
        expect(only?.message).toContain('404, but it is not this module');
        expect(only?.advice).toContain('PAYMENT_CALLBACK_URL');
        expect(await troubles({ PAYMENT_PUBLIC_URL }, ...OTHERS, '--callback', `${prefixed.url}/api/payments`)).toEqual(
          [],
        );
        const PAYMENT_CALLBACK_URL = `${prefixed.url}/api/payments`;
        expect(await troubles({ PAYMENT_CALLBACK_URL }, ...OTHERS)).toEqual([]);
      } finally {
        await prefixed.app.close();
      }
    });
  });

  it('ends in time where every host hangs', async () => {
    // What still hangs must not keep a process alive.
    runner = cli;
    const [gateway, database, shop] = [await hostOf(rawServer()), await hostOf(rawServer()), await hostOf(rawServer())];
    const change = { PAYMENT_BASE_URL: `https://${gateway}`, PAYMENT_PUBLIC_URL: `http://${shop}` };
    const stores = [`postgres://ada:geheim@${database}/shop`, `mysql://ada:geheim@${database}/shop`];
    const began = performance.now();
    const all = await Promise.all(
      stores.map((store) => troubles({ ...change, PAYMENT_STORE_URL: store }, '--timeout', '1')),
    );
    // Some rounds of a second each, instead of ten; the rest is for the start of a process and a busy machine.
    expect(performance.now() - began).toBeLessThan(25_000);
    for (const found of all) {
      expect(found).toMatchObject([
        { check: 'store', status: 'failed', message: expect.stringContaining('does not answer') as string },
        {
          check: 'gateway',
          message: `The payment gateway at ${gateway} cannot be reached; nothing was sent (deadline, checkBin).`,
        },
        { check: 'clock', status: 'skipped' },
        { check: 'credentials', status: 'skipped' },
        { check: 'callback', message: `http://${shop}/payments cannot be reached (no answer in time)` },
      ]);
    }
  });
});

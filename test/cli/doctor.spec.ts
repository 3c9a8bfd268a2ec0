import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { checkClock } from '../../lib/cli/doctor-gateway.js';
import { targetOf } from '../../lib/cli/doctor-settings.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { type Merchant, startMerchant } from '../e2e/merchant.js';
import { selfSigned } from '../rigs/certificates.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import { refusal } from '../options/resolve.js';
import { cli, cliHere } from './cli.js';
import { JSON_SHAPES, shapeOf } from './json-shapes.js';
import { scratch } from './scratch.js';

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
  const { folder: cwd, file, remove } = scratch();
  let simulator: Simulator;
  let merchant: Merchant;
  /** What the merchant set. */
  let env: Readonly<Record<string, string>>;
  const servers: (Server | Simulator)[] = [];
  /** A test that is about the process sets this to `cli`. */
  let runner = cliHere;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos', credentials: CREDENTIALS });
    const storeUrl = `sqlite:${file('payments.sqlite')}`;
    merchant = await startMerchant('express', simulator, { options: { storeUrl, background: false } });
    env = {
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: simulator.url,
      PAYMENT_MERCHANT_ID: CREDENTIALS.merchantId,
      PAYMENT_CLIENT_ID: CREDENTIALS.clientId,
      PAYMENT_CLIENT_SECRET: CREDENTIALS.clientSecret,
      PAYMENT_API_KEY: CREDENTIALS.apiKey,
      PAYMENT_PUBLIC_URL: merchant.url,
      PAYMENT_STORE_URL: storeUrl,
    };
  });
  afterAll(async () => {
    await merchant?.app.close();
    await simulator?.close();
    remove();
  });
  afterEach(async () => {
    runner = cliHere;
    for (const server of servers.splice(0)) {
      if ('closeAllConnections' in server) (server as ReturnType<typeof createHttpServer>).closeAllConnections();
      await server.close();
    }
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
    expect(shapeOf(report)).toEqual(JSON_SHAPES['doctor']);
    const isFailed = report.checks.some((one) => one.status === 'failed');
    expect([status, report.ok]).toEqual(isFailed ? [1, false] : [0, true]);
    return report.checks.filter(({ check, status }) => status !== 'ok' && check !== 'environment');
  }

  async function listening(server: Server): Promise<string> {
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const web = (answer: RequestListener) => listening(createHttpServer(answer)).then((host) => `http://${host}`);
  /** Takes connections, and never says a word. */
  const silence = () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
    server.once('close', () => undefined);
    Object.assign(server, { closeAllConnections: () => sockets.forEach((socket) => socket.destroy()) });
    return listening(server);
  };

  it('finds nothing wrong with a set-up that works, line by line', async () => {
    const own = scratch();
    const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(own.file('.env'), lines.join(''));
    simulator.reset();
    const { status, stdout, stderr } = await cliHere(['doctor'], { cwd: own.folder });
    own.remove();
    expect(stderr).toBe('');
    const host = simulator.url.slice('http://'.length);
    expect(stdout.split('\n')).toEqual([
      '✓ environment  .env was read; 8 variables begin with PAYMENT_',
      '✓ settings     complete, dialect morpos, which can refund and void payments',
      '✓ variables    none is mistyped',
      `✓ store        sqlite:${file('payments.sqlite')} answers, and its schema is right`,
      `✓ gateway      ${host} is reached`,
      "✓ clock        agrees with the gateway's",
      '✓ credentials  accepted (CheckBin, unverified)',
      `✓ callback     ${merchant.url}/payments is answered by this module`,
      '',
      'All that could be checked is right.',
      '',
    ]);
    expect(status).toBe(0);
    expect(simulator.requests.map(({ path }) => path).sort()).toEqual(['/', '/v1/BinList/CheckBin']);
  });

  it('says what is missing where nothing is set', async () => {
    const folder = scratch();
    const { status, stdout } = await cliHere(['doctor'], { cwd: folder.folder });
    folder.remove();
    expect(status).toBe(1);
    expect(stdout).toContain('– environment  there is no file .env in this folder; 0 variables begin with PAYMENT_.');
    for (const name of ['PAYMENT_BASE_URL', 'PAYMENT_MERCHANT_ID', 'PAYMENT_CLIENT_ID', 'PAYMENT_CLIENT_SECRET']) {
      expect(stdout).toMatch(new RegExp(`^✗ settings     \\w+ \\(${name}\\) is missing`, 'm'));
    }
    expect(stdout).toContain('No variable begins with PAYMENT_: was .env loaded?');
    expect(stdout).toContain('– store        payments are kept in memory: a restart loses them');
    expect(stdout).toMatch(/^– gateway {6}not tried/m);
    expect(stdout).toMatch(/^– credentials {2}not tried/m);
  });

  it('names every wrong setting, and variables that are mistyped', async () => {
    const { PAYMENT_API_KEY: _gone, ...rest } = env;
    const { stdout, status } = await cliHere(['doctor', '--json'], {
      cwd: '/',
      env: { ...rest, PAYMENT_TIMEOUT_MS: 'soon', PAYMENT_SUCESS_URL: 'https://shop.example/geheim' },
    });
    expect(stdout).not.toContain('geheim');
    expect(status).toBe(1);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect(checks.filter((one) => one.status === 'failed')).toEqual([
      {
        check: 'settings',
        status: 'failed',
        message: expect.stringContaining('apiKey (PAYMENT_API_KEY) is missing') as string,
        advice: null,
      },
      {
        check: 'settings',
        status: 'failed',
        message: 'timeoutMs (PAYMENT_TIMEOUT_MS) must be a whole number from 1 to 2147483647',
        advice: 'Options that your application sets in code cannot be seen from here.',
      },
      {
        check: 'variables',
        status: 'failed',
        message:
          'PAYMENT_SUCESS_URL is not a variable of nestjs-card-payment and has no effect: did you mean ' +
          'PAYMENT_SUCCESS_URL?',
        advice: 'Rename it to PAYMENT_SUCCESS_URL.',
      },
    ]);
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
    ['nothing set', {}],
    ['the dialect forgotten by who comes from simulator:', COMPLETE],
    ['the store forgotten in production', { ...COMPLETE, PAYMENT_DIALECT: 'morpos', NODE_ENV: 'production' }],
    ['the simulator in production', { PAYMENT_BASE_URL: 'simulator:', NODE_ENV: 'production' }],
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

  it('looks at a named account alone', async () => {
    const { status, stdout } = await doctor({}, '--account', 'shop-2', '--json');
    expect(status).toBe(1);
    const { account, checks } = JSON.parse(stdout) as { account: string; checks: Check[] };
    expect(account).toBe('shop-2');
    expect(checks.map(({ message }) => message).join()).toContain('baseUrl (PAYMENT_SHOP_2_BASE_URL) is missing');
  });

  it('leaves out what it is told to', async () => {
    const broken = { PAYMENT_BASE_URL: 'http://127.0.0.1:9', PAYMENT_STORE_URL: 'sqlite:nothing.sqlite' };
    const words = ['--skip', 'store,gateway', '--skip', 'clock,credentials'];
    expect(await troubles(broken, ...words)).toEqual([]);
    expect(existsSync(file('nothing.sqlite'))).toBe(false);
  });

  it.each([
    ['PAYMENT_CLIENT_SECRET', 'Z2VoZWltZXM=', /refused: HTTP 401, RVV0000000401/, /PAYMENT_CLIENT_SECRET/],
    ['PAYMENT_CLIENT_ID', 'client-2', /refused: HTTP 401, RVV0000000401/, /PAYMENT_CLIENT_ID/],
    ['PAYMENT_API_KEY', 'geheim-key', /refused: HTTP 400, RVV0000000403/, /PAYMENT_API_KEY/],
    ['PAYMENT_MERCHANT_ID', 'M-2', /refused: HTTP 400, RVV0000000422/, /PAYMENT_MERCHANT_ID/],
    ['PAYMENT_SCOPE', 'pf_write', /refused: HTTP 401/, /PAYMENT_SCOPE/],
  ])('finds a wrong %s', async (variable, value, message, advice) => {
    expect(await troubles({ [variable]: value })).toEqual([
      {
        check: 'credentials',
        status: 'failed',
        message: expect.stringMatching(message) as string,
        advice: expect.stringMatching(advice) as string,
      },
    ]);
  });

  it('does not try credentials with a dialect that has nothing harmless to ask', async () => {
    const [only, ...others] = await troubles({ PAYMENT_DIALECT: 'standard' });
    expect(only).toMatchObject({ check: 'credentials', status: 'skipped' });
    expect(others).toEqual([]);
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

    // With the dialect "standard", nothing can be asked that moves no money: its root path is requested.
    it.each([
      [
        'morpos',
        'http://127.0.0.1:9',
        /^The payment gateway at 127\.0\.0\.1:9 cannot be .*\(ECONNREFUSED, checkBin\)\.$/,
      ],
      ['standard', 'http://127.0.0.1:9', /^127\.0\.0\.1:9 cannot be reached \(ECONNREFUSED\)$/],
      [
        'morpos',
        'https://gateway.invalid',
        /^The payment gateway at gateway\.invalid cannot be reached.*\((ENOTFOUND|EAI_\w+), checkBin\)\.$/,
      ],
      ['standard', 'https://gateway.invalid', /^gateway\.invalid cannot be reached \((ENOTFOUND|EAI_\w+)\)$/],
    ])('of the dialect %s at %s cannot be reached', async (PAYMENT_DIALECT, PAYMENT_BASE_URL, message) => {
      expect(await troubles({ PAYMENT_DIALECT, PAYMENT_BASE_URL }, ...OTHERS)).toEqual([
        {
          check: 'gateway',
          status: 'failed',
          message: expect.stringMatching(message) as string,
          advice: expect.stringContaining('PAYMENT_BASE_URL') as string,
        },
        expect.objectContaining({ check: 'clock', status: 'skipped' }),
        expect.objectContaining({ check: 'credentials', status: 'skipped' }),
      ]);
    });

    it('is asked for its root path alone where the credentials are left out', async () => {
      simulator.reset();
      expect(await troubles({}, ...OTHERS, '--skip', 'credentials')).toEqual([]);
      expect(simulator.requests.map(({ path }) => path)).toEqual(['/']);
    });

    it.each([
      [
        { kind: 'reset' },
        /^The payment gateway at \S+ gave no readable answer \((ECONNRESET|UND_ERR_SOCKET), checkBin\)\.$/,
      ],
      [{ kind: 'stall' }, /^The payment gateway at \S+ gave no readable answer \(deadline, checkBin\)\.$/],
    ] as const)('takes a request and does not answer it: %j', async (fault, message) => {
      simulator.reset();
      simulator.fail({ operation: 'CheckBin', ...fault });
      expect(await troubles({}, ...OTHERS, '--timeout', '1')).toEqual([
        {
          check: 'gateway',
          status: 'failed',
          message: expect.stringMatching(message) as string,
          advice: expect.stringMatching(/^A simulator\? Start it: .* (See|raise) .*PAYMENT_/) as string,
        },
        { check: 'credentials', status: 'skipped', message: 'not known: the gateway gave no answer', advice: null },
      ]);
      simulator.reset();
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

    it('speaks no TLS', async () => {
      const [first] = await troubles({ PAYMENT_BASE_URL: simulator.url.replace('http:', 'https:') }, ...OTHERS);
      expect(first).toMatchObject({ check: 'gateway', status: 'failed' });
      expect(first?.message).toMatch(/cannot be reached; nothing was sent \((EPROTO|ERR_SSL_\w+), checkBin\)/);
      expect(first?.advice).toContain('No TLS connection: check baseUrl (PAYMENT_BASE_URL)');
    });

    it('is another service', async () => {
      const PAYMENT_BASE_URL = await web((_request, response) => response.writeHead(404).end('<h1>Not found</h1>'));
      const [only] = await troubles({ PAYMENT_BASE_URL }, ...OTHERS);
      expect(only).toMatchObject({ check: 'credentials', status: 'failed' });
      expect(only?.message).toContain('this service is not at that address: HTTP 404');
      expect(only?.advice).toContain('PAYMENT_BASE_URL');
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

  it.each([
    ['sqlite:payments.sqlit', 'there is no SQLite file payments.sqlit'],
    ['postgres://ada:geheim@127.0.0.1:1/shop', 'PostgreSQL does not answer'],
  ])('says that the store %s is not there, and makes none', async (PAYMENT_STORE_URL, message) => {
    const before = readdirSync(cwd);
    const [only, ...others] = await troubles({ PAYMENT_STORE_URL });
    expect(only).toMatchObject({ check: 'store', status: 'failed' });
    expect(only?.message).toContain(message);
    expect(others).toEqual([]);
    expect(readdirSync(cwd)).toEqual(before);
  });

  describe('the callback', () => {
    const OTHERS = ['--skip', 'store,gateway,clock,credentials'];

    it.each<[string, RequestListener, RegExp]>([
      ['another page', (_request, response) => response.end('<h1>Shop</h1>'), /answers 200, not as this module does/],
      ['no such page', (_request, response) => response.writeHead(404).end(), /404, but it is not this module/],
      ['a login', (_request, response) => response.writeHead(401).end(), /answers 401/],
      ['a redirect', (_request, response) => response.writeHead(302, { location: '/' }).end(), /answers 302/],
    ])('address that answers with %s', async (_what, answer, message) => {
      const PAYMENT_PUBLIC_URL = await web(answer);
      const [only] = await troubles({ PAYMENT_PUBLIC_URL }, ...OTHERS);
      expect(only).toMatchObject({ check: 'callback', status: 'failed' });
      expect(only?.message).toMatch(message);
    });

    it('address whose page never ends is read for a mebibyte alone', async () => {
      let sent = 0;
      const PAYMENT_PUBLIC_URL = await web((_request, response) => {
        const chunk = Buffer.alloc(65_536, 'x');
        const more = (): void => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        };
        response.on('drain', more);
        more();
      });
      const [only] = await troubles({ PAYMENT_PUBLIC_URL }, ...OTHERS);
      expect(only?.message).toMatch(/answers 200, not as this module does/);
      // What the sockets hold of it is not read.
      expect(sent).toBeLessThan(32 * 1_048_576);
    });

    it('address where nothing listens', async () => {
      const [only] = await troubles({ PAYMENT_PUBLIC_URL: 'http://127.0.0.1:9' }, ...OTHERS);
      expect(only?.message).toBe('http://127.0.0.1:9/payments cannot be reached (ECONNREFUSED)');
      expect(only?.advice).toContain('Is the application running?');
    });

    it('address of this machine, with a real gateway', async () => {
      const [only] = await troubles({ PAYMENT_BASE_URL: 'https://gateway.invalid' }, ...OTHERS);
      expect(only).toMatchObject({ check: 'callback', status: 'failed' });
      expect(only?.message).toContain('/payments is this machine: buyers of a real gateway cannot come back to it');
    });

    it('below a prefix that is set in code is found where it is said to be', async () => {
      const prefixed = await startMerchant('fastify', simulator, {
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

    it("is not asked for where buyers come back to addresses of the shop's own", async () => {
      const own = { PAYMENT_RETURN_URL: 'https://shop.example/r', PAYMENT_FAIL_URL: 'https://shop.example/f' };
      expect(await troubles(own, ...OTHERS)).toMatchObject([{ check: 'callback', status: 'skipped' }]);
    });
  });

  it('ends in time where every host hangs', async () => {
    // What still hangs must not keep a process alive.
    runner = cli;
    const [gateway, database, shop] = [await silence(), await silence(), await silence()];
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

import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { MemoryPaymentStore, type PaymentOptions } from 'nestjs-card-payment';
import { loggerInto } from '../operations/log-lines.js';
import { sale, useMerchants } from './merchant.js';

/** Frequent mistakes at first use, and what the log says of them. */
describe('the log, when the gateway cannot be used', () => {
  const log: string[] = [];
  const merchants = useMerchants();

  async function start(options: PaymentOptions = {}) {
    const merchant = await merchants.start('express', { options, application: { logger: loggerInto(log) } });
    log.length = 0;
    return merchant;
  }

  /** Error lines of one payment of each kind. */
  async function errorsWith(options: PaymentOptions): Promise<string[]> {
    const { payments } = await start(options);
    await payments.doPayment(sale()).catch(() => undefined);
    await payments.init3d(sale()).catch(() => undefined);
    return log.filter((line) => line.startsWith('error '));
  }

  it.each<[string, PaymentOptions, RegExp]>([
    ['wrong secret', { clientSecret: 'wrong' }, /HTTP 401, RVV0000000401, .*clientSecret \(PAYMENT_CLIENT_SECRET\)/],
    ['wrong client', { clientId: 'wrong' }, /HTTP 401, .*clientId \(PAYMENT_CLIENT_ID\)/],
    ['wrong key', { apiKey: 'wrong' }, /HTTP 400, .*apiKey \(PAYMENT_API_KEY\)/],
    ['wrong merchant', { merchantId: 'wrong' }, /HTTP 400, .*merchantId \(PAYMENT_MERCHANT_ID\)/],
  ])('%s: an error that names the setting', async (_what, options, wanted) => {
    const errors = await errorsWith(options);
    expect(errors).toEqual([expect.stringMatching(wanted), expect.stringMatching(wanted)]);
    for (const line of errors) expect(line).toContain(new URL(merchants.simulator.url).host);
    expect(log.join()).not.toContain('wrong');
  });

  it('wrong path', async () => {
    const [error] = await errorsWith({ baseUrl: `${merchants.simulator.url}/v1` });
    expect(error).toMatch(/HTTP 404, .*baseUrl \(PAYMENT_BASE_URL\), which must end before \/v1/);
  });

  it('a port that is closed, a name that does not exist, a server without TLS', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    for (const [baseUrl, wanted] of [
      [
        `http://127.0.0.1:${port}`,
        new RegExp(`127\\.0\\.0\\.1:${port} cannot be reached.*ECONNREFUSED.*PAYMENT_BASE_URL`),
      ],
      ['https://nonexistent.invalid', /nonexistent\.invalid cannot be reached.*(ENOTFOUND|EAI_AGAIN).*DNS/],
      [
        merchants.simulator.url.replace('http:', 'https:'),
        /cannot be reached.*ERR_SSL_WRONG_VERSION_NUMBER.*No TLS connection/,
      ],
    ] as const) {
      expect(await errorsWith({ baseUrl })).toEqual([expect.stringMatching(wanted), expect.stringMatching(wanted)]);
    }
  });

  it('does not say this of a decline', async () => {
    const { payments } = await start();
    const { conversationId } = await payments.doPayment(sale('10.51'));
    expect(log).toEqual([
      expect.stringMatching(`^log Payment ${conversationId} of order-\\d+, 10.51 TRY: failed \\(declined, B0051\\)`),
    ]);
  });

  it('says what failed when Nest answers 500, and nothing that a store threw', async () => {
    const store = new MemoryPaymentStore();
    const { payments, url } = await start({ store });
    const fail = (): Promise<never> => Promise.reject(new Error('password=secret'));
    store.find = store.findByReference = store.findByTokenHash = fail;
    await expect(payments.find('X')).rejects.toThrow('store failed');
    await expect(payments.findByReference('X')).rejects.toThrow('store failed');
    await expect(payments.inquire('X')).rejects.toThrow('store failed');
    expect(log).toEqual(
      Array<string>(3).fill('error The payment store failed while reading. No money was moved by this call.'),
    );
    log.length = 0;
    for (let times = 0; times < 9; times += 1) {
      expect((await fetch(`${url}/payments/${'x'.repeat(43)}/return`)).status).toBe(503);
    }
    const line = 'error A callback could not be served; the buyer is asked to reload.';
    expect(log).toEqual(Array<unknown>(3).fill(expect.stringContaining(line)));
  });
});

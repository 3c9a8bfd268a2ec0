import { GatewayTrouble } from '../../lib/gateway/gateway-trouble.js';
import type { GatewayDialect } from '../../lib/gateway/gateway-dialect.js';
import type { Transmission } from '../../lib/gateway/transport/attempt.js';
import { toPayment } from '../../lib/payment/payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { OPEN_CLAIM, sampleSale } from './sample-sale.js';
import { replied, stubClient } from './stub-client.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';

const WEAK =
  'It offers no TLS 1.2 or 1.3 with forward secrecy, or refuses ours: ask the vendor, or check baseUrl ' +
  '(PAYMENT_EU_BASE_URL).';

describe('trouble with the gateway', () => {
  const log = logLines();
  let clock: TestClock;
  let trouble: GatewayTrouble;

  beforeEach(() => {
    clock = new TestClock();
    const settings = { baseUrl: 'https://gateway.example:8443/pos', dialect: morposDialect() };
    trouble = new GatewayTrouble('eu', settings, clock);
  });

  it.each([
    [
      'ECONNREFUSED',
      'Check baseUrl (PAYMENT_EU_BASE_URL), firewalls, and the option dispatcher where a proxy is needed.',
    ],
    ['ENOTFOUND', "Its host name was not found: check baseUrl (PAYMENT_EU_BASE_URL) and this host's DNS."],
    ['EAI_AGAIN', "Its host name was not found: check baseUrl (PAYMENT_EU_BASE_URL) and this host's DNS."],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', WEAK],
    ['EPROTO_NO_SHARED_CIPHER', WEAK],
    ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'].map((code) => [
      code,
      'No TLS connection: check baseUrl (PAYMENT_EU_BASE_URL); ' +
        'a private CA or a client certificate is set by the option dispatcher.',
    ]),
  ])('not reached: %s', (code, advice) => {
    trouble.unreachable('doPayment', 'connection_failed', code ?? '');
    expect(log).toEqual([
      `error The payment gateway at gateway.example:8443 cannot be reached; nothing was sent (${code}, doPayment). ${advice}`,
    ]);
  });

  it('not reached, without a code; kept back by an interceptor; not made; not answered', () => {
    trouble.unreachable('init3d', 'deadline', null);
    trouble.unreachable('init3d', 'interceptor_failed', null);
    trouble.notMade('init3d', 'the signer took too long');
    trouble.noAnswer('auth3d', 'deadline', null);
    trouble.noAnswer('checkBin', 'deadline', null);
    trouble.noAnswer('auth3d', 'connection_lost', 'ECONNRESET');
    expect(log).toEqual([
      expect.stringContaining('cannot be reached; nothing was sent (deadline, init3d). Check baseUrl'),
      expect.stringContaining('An interceptor of PAYMENT_HTTP kept a request'),
      'error Nothing was sent to the payment gateway: the signer took too long (init3d).',
      'error The payment gateway at gateway.example:8443 gave no readable answer (deadline, auth3d). ' +
        'If it is only slow, raise timeoutMs (PAYMENT_EU_TIMEOUT_MS).',
      expect.stringContaining(
        '(deadline, checkBin). If it is only slow, raise binTimeoutMs (PAYMENT_EU_BIN_TIMEOUT_MS).',
      ),
      'error The payment gateway at gateway.example:8443 gave no readable answer (ECONNRESET, auth3d).',
    ]);
  });

  it.each([
    [401, null, 'clientSecret (PAYMENT_EU_CLIENT_SECRET)'],
    [401, 'RVV0000000401', 'clientId (PAYMENT_EU_CLIENT_ID)'],
    [403, null, 'scope (PAYMENT_EU_SCOPE)'],
    [404, null, 'Check baseUrl (PAYMENT_EU_BASE_URL), which must end before /v1, and the dialect "morpos".'],
    [302, null, 'baseUrl (PAYMENT_EU_BASE_URL)'],
    [405, null, 'baseUrl (PAYMENT_EU_BASE_URL)'],
    [429, null, 'ask the vendor'],
    [400, 'RVV0000000403', 'merchantId (PAYMENT_EU_MERCHANT_ID), apiKey (PAYMENT_EU_API_KEY)'],
    [400, null, 'merchantId (PAYMENT_EU_MERCHANT_ID)'],
    [200, 'RVV0000000422', 'merchantId (PAYMENT_EU_MERCHANT_ID)'],
    [200, 'B0003', 'merchantId (PAYMENT_EU_MERCHANT_ID)'],
  ])('refused with HTTP %i and %s', (status, code, named) => {
    trouble.replied('doPayment', status, code);
    expect(log).toHaveLength(1);
    expect(log[0]).toMatch(
      /^error The payment gateway at gateway\.example:8443 refuses the request itself, not the card/,
    );
    expect(log[0]).toContain(code === null ? `(HTTP ${status}, doPayment)` : `(HTTP ${status}, ${code}, doPayment)`);
    expect(log[0]).toContain(named);
  });

  it.each([
    [200, 'B0000'],
    [200, 'B0051'],
    [200, null],
    [402, 'B0051'],
    [500, null],
    [503, 'B0096'],
  ])('says nothing of HTTP %i with %s: that is the card, or the gateway itself', (status, code) => {
    trouble.replied('doPayment', status, code);
    expect(log).toEqual([]);
  });

  it('shows no code that is none', () => {
    for (const code of ['RVV45080345080345', '4508034508034509', 'RVVsecret']) {
      trouble.replied('doPayment', 401, code);
    }
    expect(log).toHaveLength(3);
    for (const line of log) expect(line).toContain('(HTTP 401, doPayment)');
  });

  it.each<[Transmission, string | null, Partial<GatewayDialect>?]>([
    [{ sent: false, cause: 'connection_failed', errorCode: 'ECONNREFUSED' }, 'cannot be reached; nothing was sent'],
    [{ sent: false, cause: 'claim_over' }, 'held up for too long (doPayment)'],
    [{ sent: true, reply: null, cause: 'deadline' }, 'gave no readable answer (deadline, doPayment)'],
    [replied({ code: 'B0000' }, 401), 'refuses the request itself'],
    [replied({ code: 'B0003' }), 'refuses the request itself, not the card (HTTP 200, B0003, doPayment)'],
    [replied({ code: 'B0000' }), null],
    [
      replied({ code: 'B0000' }),
      "Nothing was sent to the payment gateway: the dialect's headers threw",
      { headers: fail },
    ],
  ])('is told by the client: %j (%s)', async (...row) => {
    const [transmission, line, over] = row;
    const { client } = stubClient(transmission, { ...morposDialect(), ...over }, {}, trouble);
    await client.doPayment(sampleSale(), OPEN_CLAIM);
    expect(log).toEqual(line === null ? [] : [expect.stringContaining(line)]);
  });

  it('loses no answer where it fails itself', async () => {
    const failing = { replied: fail } as unknown as GatewayTrouble;
    const { client } = stubClient(replied({ code: 'B0000' }), morposDialect(), {}, failing);
    expect(await client.doPayment(sampleSale(), OPEN_CLAIM)).toMatchObject({ outcome: { state: 'succeeded' } });
  });

  it('is not told of a code in the answer to an inquiry, which is about the payment', async () => {
    const { client } = stubClient(replied({ responseCode: 'B0003' }), morposDialect(), {}, trouble);
    await client.checkPayment(toPayment(aPaymentRecord({ state: 'unknown' })));
    expect(log).toEqual([]);
  });

  it('says it a few times a minute, and how often besides', async () => {
    for (let times = 0; times < 1_000; times += 1)
      trouble.unreachable('doPayment', 'connection_failed', 'ECONNREFUSED');
    trouble.noAnswer('doPayment', 'deadline', null);
    expect(log).toHaveLength(4);
    await clock.advance(60_000);
    expect(log).toHaveLength(5);
    expect(log[4]).toMatch(/ 997 more in the same minute were not logged\.$/);
    trouble.unreachable('doPayment', 'connection_failed', 'ECONNREFUSED');
    expect(log).toHaveLength(6);
  });
});

function fail(): never {
  throw new Error('a dialect that fails');
}

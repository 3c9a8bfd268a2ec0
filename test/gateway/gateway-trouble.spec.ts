import { GatewayTrouble } from '../../lib/gateway/gateway-trouble.js';
import type { GatewayDialect, GatewayOperation } from '../../lib/gateway/gateway-dialect.js';
import type { NoReply, Transmission } from '../../lib/gateway/transport/attempt.js';
import { toPayment } from '../../lib/payment/payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { OPEN_CLAIM, sampleSale } from './sample-sale.js';
import { replied, stubClient } from './stub-client.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';

const NAME = "Its host name was not found: check baseUrl (PAYMENT_EU_BASE_URL) and this host's DNS.";
const TLS =
  'No TLS connection: check baseUrl (PAYMENT_EU_BASE_URL); TLS 1.2 or 1.3 with forward secrecy is needed; ' +
  'a private CA or a client certificate is set by the option dispatcher.';
const OTHER = 'Check baseUrl (PAYMENT_EU_BASE_URL), firewalls, and the option dispatcher where a proxy is needed.';
const GATEWAY = 'payment gateway at gateway.example:8443';
const REFUSED: NoReply = { sent: false, cause: 'connection_failed', errorCode: 'ECONNREFUSED' };

describe('trouble with the gateway', () => {
  const log = logLines();
  let clock: TestClock;
  let trouble: GatewayTrouble;

  beforeEach(() => {
    clock = new TestClock();
    const settings = { baseUrl: 'https://gateway.example:8443/pos', dialect: morposDialect() };
    trouble = new GatewayTrouble('eu', settings, clock);
  });

  it.each<[codes: string, advice: string]>([
    ['ECONNREFUSED', OTHER],
    ['ENOTFOUND EAI_AGAIN', NAME],
    ['CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT EPROTO', TLS],
  ])('not reached: %s', (codes, advice) => {
    for (const errorCode of codes.split(' ')) {
      trouble.lost('doPayment', { ...REFUSED, errorCode });
      const line = `error The ${GATEWAY} cannot be reached; nothing was sent (${errorCode}, doPayment). ${advice}`;
      expect(log.splice(0)).toEqual([line]);
    }
  });

  it.each<[GatewayOperation, NoReply, line: string]>([
    [
      'init3d',
      { sent: false, cause: 'deadline' },
      `${GATEWAY} cannot be reached; nothing was sent (deadline, init3d). ${OTHER}`,
    ],
    [
      'init3d',
      { sent: false, cause: 'interceptor_failed' },
      `An interceptor of PAYMENT_HTTP kept a request to the ${GATEWAY}`,
    ],
    [
      'auth3d',
      { sent: true, reply: null, cause: 'deadline' },
      'no readable answer (deadline, auth3d). If it is only slow, raise timeoutMs (PAYMENT_EU_TIMEOUT_MS).',
    ],
    ['checkBin', { sent: true, reply: null, cause: 'deadline' }, 'raise binTimeoutMs (PAYMENT_EU_BIN_TIMEOUT_MS).'],
    [
      'auth3d',
      { sent: true, reply: null, cause: 'connection_lost', errorCode: 'ECONNRESET' },
      `error The ${GATEWAY} gave no readable answer (ECONNRESET, auth3d).`,
    ],
  ])('%s without a reply, %j: %s', (operation, lost, line) => {
    trouble.lost(operation, lost);
    expect(log).toEqual([expect.stringContaining(line)]);
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
    // That is the card, or the gateway itself.
    [200, 'B0000', null],
    [200, 'B0051', null],
    [200, null, null],
    [402, 'B0051', null],
    [500, null, null],
    [503, 'B0096', null],
  ])('a reply with HTTP %i and %s: %s', (status, code, named) => {
    trouble.replied('doPayment', status, code);
    const seen = code === null ? `(HTTP ${status}, doPayment). ` : `(HTTP ${status}, ${code}, doPayment). `;
    const line = `error The ${GATEWAY} refuses the request itself, not the card ${seen}`;
    expect(log.map((it) => it.slice(0, line.length))).toEqual(named === null ? [] : [line]);
    if (named !== null) expect(log[0]).toContain(named);
  });

  it.each<[Transmission, string | null, Partial<GatewayDialect>?]>([
    [REFUSED, 'cannot be reached; nothing was sent'],
    [{ sent: false, cause: 'claim_over' }, 'held up for too long (doPayment)'],
    [{ sent: true, reply: null, cause: 'deadline' }, 'gave no readable answer (deadline, doPayment)'],
    [replied({ code: 'B0000' }, 401), 'refuses the request itself'],
    // No code is shown that may be a part of what was sent.
    [replied({ code: sampleSale().cardDetails.cardNo }, 401), 'not the card (HTTP 401, doPayment)'],
    [replied({ code: 'B0003' }), 'refuses the request itself, not the card (HTTP 200, B0003, doPayment)'],
    [replied({ code: 'B0000' }), null],
    [replied({}), "Nothing was sent to the payment gateway: the dialect's headers threw", { headers: fail }],
  ])('is told by the client: %j (%s)', async (...row) => {
    const [transmission, line, over] = row;
    const { client } = stubClient(transmission, { ...morposDialect(), ...over }, {}, trouble);
    await client.doPayment(sampleSale(), OPEN_CLAIM);
    expect(log).toEqual(line === null ? [] : [expect.stringContaining(line)]);
  });

  it('is not told of a code in the answer to an inquiry, which is about the payment', async () => {
    const { client } = stubClient(replied({ responseCode: 'B0003' }), morposDialect(), {}, trouble);
    await client.checkPayment(toPayment(aPaymentRecord({ state: 'unknown' })));
    expect(log).toEqual([]);
  });

  it('says it a few times a minute, and how often besides', async () => {
    for (let times = 0; times < 1_000; times += 1) trouble.lost('doPayment', REFUSED);
    trouble.lost('doPayment', { sent: true, reply: null, cause: 'deadline' });
    expect(log).toHaveLength(4);
    await clock.advance(60_000);
    expect(log).toHaveLength(5);
    expect(log[4]).toMatch(/ 997 more in the same minute were not logged\.$/);
  });
});

function fail(): never {
  throw new Error('a dialect that fails');
}

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

const NAME = " Its host name was not found: check baseUrl (PAYMENT_EU_BASE_URL) and this host's DNS.";
const TLS =
  ' No TLS connection: check baseUrl (PAYMENT_EU_BASE_URL); TLS 1.2 or 1.3 with forward secrecy is needed; ' +
  'a private CA or a client certificate is set by the option dispatcher.';
const OTHER = ' Check baseUrl (PAYMENT_EU_BASE_URL), firewalls, and the option dispatcher where a proxy is needed.';
const CREDENTIALS =
  'Check clientId (PAYMENT_EU_CLIENT_ID), clientSecret (PAYMENT_EU_CLIENT_SECRET), merchantId ' +
  '(PAYMENT_EU_MERCHANT_ID), scope (PAYMENT_EU_SCOPE), grantType (PAYMENT_EU_GRANT_TYPE), ' +
  "and this host's clock (x-Timestamp).";
const ADDRESS = 'Check baseUrl (PAYMENT_EU_BASE_URL), which must end before /v1, and the dialect "morpos".';
const SIGN =
  'If it refuses every request, check merchantId (PAYMENT_EU_MERCHANT_ID), apiKey (PAYMENT_EU_API_KEY), ' +
  'and how the sign is made.';
const GATEWAY = 'payment gateway at gateway.example:8443';
const REFUSED: NoReply = { sent: false, cause: 'connection_failed', errorCode: 'ECONNREFUSED' };
const LATE: NoReply = { sent: true, reply: null, cause: 'deadline' };
const { cardNo } = sampleSale().cardDetails;

function fail(): never {
  throw new Error(`a dialect that fails, and tells ${cardNo}`);
}

describe('trouble with the gateway', () => {
  const records: object[] = [];
  const log = logLines(records);
  let clock: TestClock;
  let trouble: GatewayTrouble;

  beforeEach(() => {
    clock = new TestClock();
    const settings = { baseUrl: 'https://gateway.example:8443/pos', dialect: morposDialect() };
    trouble = new GatewayTrouble('eu', settings, clock);
  });

  /** Expects one error, or none, with its fields for a logger in JSON. */
  function expectError(message: string | null, fields: object = {}): void {
    const record = { account: 'eu', host: 'gateway.example:8443', message, ...fields };
    expect(records.map((it) => ({ ...it }))).toEqual(message === null ? [] : [record]);
    expect(log).toEqual(message === null ? [] : [`error ${message}`]);
  }

  const unreached = (codes: string, advice: string): [GatewayOperation, NoReply, string][] =>
    codes.split(' ').map((errorCode) => {
      const line = `The ${GATEWAY} cannot be reached; nothing was sent (${errorCode}, doPayment).${advice}`;
      return ['doPayment', { ...REFUSED, errorCode }, line];
    });
  const unanswered = `The ${GATEWAY} gave no readable answer`;

  it.each<[GatewayOperation, NoReply, line: string]>([
    ...unreached('ECONNREFUSED', OTHER),
    ...unreached('ENOTFOUND EAI_AGAIN', NAME),
    ...unreached('CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT EPROTO ERR_TLS_CERT_ALTNAME_INVALID', TLS),
    ...unreached('ERR_SSL_WRONG_VERSION_NUMBER UNABLE_TO_VERIFY_LEAF_SIGNATURE SELF_SIGNED_CERT_IN_CHAIN', TLS),
    [
      'init3d',
      { sent: false, cause: 'deadline' },
      `The ${GATEWAY} cannot be reached; nothing was sent (deadline, init3d).${OTHER}`,
    ],
    [
      'init3d',
      { sent: false, cause: 'interceptor_failed' },
      `An interceptor of PAYMENT_HTTP kept a request to the ${GATEWAY} from being sent (interceptor_failed, init3d).`,
    ],
    ['auth3d', LATE, `${unanswered} (deadline, auth3d). If it is only slow, raise timeoutMs (PAYMENT_EU_TIMEOUT_MS).`],
    [
      'checkBin',
      LATE,
      `${unanswered} (deadline, checkBin). If it is only slow, raise binTimeoutMs (PAYMENT_EU_BIN_TIMEOUT_MS).`,
    ],
    ['auth3d', { ...LATE, cause: 'connection_lost', errorCode: 'EPIPE' }, `${unanswered} (EPIPE, auth3d).`],
    ['auth3d', { ...LATE, cause: 'connection_lost' }, `${unanswered} (connection_lost, auth3d).`],
  ])('%s without a reply, %j: %s', (operation, lost, line) => {
    trouble.lost(operation, lost);
    expectError(line, { operation, cause: lost.errorCode ?? lost.cause });
  });

  it.each<[status: number, code: string | null, advice: string | null]>([
    [401, null, CREDENTIALS],
    [401, 'RVV0000000401', CREDENTIALS],
    [403, null, CREDENTIALS],
    [404, null, ADDRESS],
    [302, null, ADDRESS],
    [405, null, ADDRESS],
    [429, null, 'It limits the number of requests: ask the vendor.'],
    [400, 'RVV0000000403', SIGN],
    [400, null, SIGN],
    [422, null, SIGN],
    [200, 'RVV0000000422', SIGN],
    [200, 'B0003', SIGN],
    // That is the card, or the gateway itself.
    ...[200, 402].flatMap((status): [number, string, null][] => ['B0000', 'B0051'].map((it) => [status, it, null])),
    [200, null, null],
    [500, null, null],
    [503, 'B0096', null],
  ])('a reply with HTTP %i and %s: %s', (status, code, advice) => {
    trouble.replied('doPayment', status, code);
    const seen = code === null ? `(HTTP ${status}, doPayment)` : `(HTTP ${status}, ${code}, doPayment)`;
    const line = `The ${GATEWAY} refuses the request itself, not the card ${seen}. ${advice}`;
    expectError(advice && line, { operation: 'doPayment', status, ...(code !== null && { code }) });
  });

  const { doPayment, ...others } = morposDialect().operations;
  const unread: Partial<GatewayDialect> = { operations: { ...others, doPayment: { ...doPayment, read: fail } } };
  /** What a host's dialect told of the card is masked, and the place in its code is shown. */
  const thrown = 'Error: a dialect that fails, and tells ***, at Object.fail';

  it.each<[Transmission, line: string | null, Partial<GatewayDialect>?]>([
    [REFUSED, `error The ${GATEWAY} cannot be reached; nothing was sent`],
    [
      { sent: false, cause: 'claim_over' },
      'error Nothing was sent to the payment gateway: the payment store or this process was held up for too long ',
    ],
    [LATE, `error ${unanswered} (deadline, doPayment)`],
    [
      replied({ code: 'B0000' }, 401),
      `error The ${GATEWAY} refuses the request itself, not the card (HTTP 401, B0000,`,
    ],
    // No code is shown that may be a part of what was sent.
    [replied({ code: cardNo }, 401), `error The ${GATEWAY} refuses the request itself, not the card (HTTP 401, doPay`],
    [replied({ code: 'B0003' }), `error The ${GATEWAY} refuses the request itself, not the card (HTTP 200, B0003,`],
    [replied({ code: 'B0000' }), null],
    [
      replied({}),
      `error Nothing was sent to the payment gateway: the dialect's headers threw (doPayment): ${thrown}`,
      { headers: fail },
    ],
    [
      replied({ code: 'B0000' }),
      'error The dialect "morpos" threw while it read the gateway\'s answer to doPayment, which counts as unreadable, ' +
        `in read(): ${thrown}`,
      unread,
    ],
  ])('is told by the client: %j (%s)', async (...row) => {
    const [transmission, line, over] = row;
    const { client } = stubClient(transmission, { ...morposDialect(), ...over }, {}, trouble);
    await client.charge('doPayment', sampleSale(), { expected: sampleSale() }, OPEN_CLAIM);
    expect(log.map((it) => it.slice(0, line?.length))).toEqual(line === null ? [] : [line]);
    if (over) expect(records).toMatchObject([{ operation: 'doPayment', error: thrown.slice(0, -16) }]);
  });

  it('is not told of a code in the answer to an inquiry, which is about the payment', async () => {
    const { client } = stubClient(replied({ responseCode: 'B0003' }), morposDialect(), {}, trouble);
    await client.checkPayment(toPayment(aPaymentRecord({ state: 'unknown' })));
    expectError(null);
  });

  it('says it a few times a minute, and how often besides', async () => {
    for (let times = 0; times < 1_000; times += 1) trouble.lost('doPayment', REFUSED);
    trouble.lost('doPayment', LATE);
    expect(log).toHaveLength(4);
    await clock.advance(60_000);
    expect(log).toHaveLength(5);
    expect(log[4]).toMatch(/ 997 more in the same minute were not logged\.$/);
  });
});

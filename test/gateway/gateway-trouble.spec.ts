import { GatewayTrouble } from '../../lib/gateway/gateway-trouble.js';
import type { GatewayOperation } from '../../lib/gateway/gateway-dialect.js';
import type { NoReply, Transmission } from '../../lib/gateway/transport/attempt.js';
import { toPayment } from '../../lib/payment/payment.js';
import { expectCases } from '../rigs/case-texts.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { sampleSale } from './sample-sale.js';
import { replied as answered, stubClient } from './stub-client.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';

const SETTINGS = { baseUrl: 'https://gateway.example:8443/pos', dialect: morposDialect() };
const GATEWAY = 'payment gateway at gateway.example:8443';
const REFUSED: NoReply = { sent: false, cause: 'connection_failed', errorCode: 'ECONNREFUSED' };
const LATE: NoReply = { sent: true, reply: null, cause: 'deadline' };
const { cardNo } = sampleSale().cardDetails;

describe('trouble with the gateway', () => {
  const records: object[] = [];
  const log = logLines(records);
  let clock: TestClock;
  let trouble: GatewayTrouble;

  beforeEach(() => {
    clock = new TestClock();
    trouble = new GatewayTrouble('eu', SETTINGS, clock);
  });

  /** Expects one error, or none, with its fields for a logger in JSON. */
  function expectError(message: string | null, fields: object = {}): void {
    const record = { account: 'eu', host: 'gateway.example:8443', message, ...fields };
    expect(records.map((it) => ({ ...it }))).toEqual(message === null ? [] : [record]);
    expect(log).toEqual(message === null ? [] : [`error ${message}`]);
  }

  const unanswered = `The ${GATEWAY} gave no readable answer`;

  /** The one line of this trouble, with its fields for a logger in JSON. */
  function lineOf(tell: (of: GatewayTrouble) => void, fields: object): string {
    records.length = log.length = 0;
    tell(new GatewayTrouble('eu', SETTINGS, clock));
    const message = log[0]?.replace('error ', '') ?? null;
    expectError(message, fields);
    return message ?? 'nothing';
  }

  /** `doPayment not sent connection_failed ECONNREFUSED` */
  function lost(input: string): string {
    const [, operation = '', not, cause, errorCode] = /^(\w+) (not )?sent (\w+) ?(\w+)?$/.exec(input) ?? [];
    const reply = { ...(not ? {} : { reply: null }), sent: !not, cause, ...(errorCode && { errorCode }) } as NoReply;
    const name = operation as GatewayOperation;
    return lineOf((trouble) => trouble.lost(name, reply), { operation, cause: errorCode ?? cause });
  }

  /** `401 RVV0000000401` */
  function replied(input: string): string {
    const [status = '', code] = input.split(' ');
    const fields = { operation: 'doPayment', status: Number(status), ...(code && { code }) };
    return lineOf((trouble) => trouble.replied('doPayment', Number(status), code ?? null), fields);
  }

  it('is that of expected/trouble.txt', () =>
    expectCases(import.meta.url, 'trouble.txt', { 'No reply': lost, 'A reply to DoPayment': replied }));

  // What the host's own dialect throws is in test/e2e/expected/log.txt.
  it.each<[Transmission, line: string | null]>([
    [
      { sent: false, cause: 'claim_over' },
      'error Nothing was sent to the payment gateway: the payment store or this process was held up for too long ',
    ],
    [LATE, `error ${unanswered} (deadline, doPayment)`],
    [
      answered({ code: 'B0000' }, 401),
      `error The ${GATEWAY} refuses the request itself, not the card (HTTP 401, B0000,`,
    ],
    // No code is shown that may be a part of what was sent.
    [answered({ code: cardNo }, 401), `error The ${GATEWAY} refuses the request itself, not the card (HTTP 401, doPay`],
    [answered({ code: 'B0003' }), `error The ${GATEWAY} refuses the request itself, not the card (HTTP 200, B0003,`],
    [answered({ code: 'B0000' }), null],
  ])('is told by the client: %j (%s)', async (transmission, line) => {
    await stubClient(transmission, morposDialect(), {}, trouble).pay();
    expect(log.map((it) => it.slice(0, line?.length))).toEqual(line === null ? [] : [line]);
  });

  it('is not told of a code in the answer to an inquiry, which is about the payment', async () => {
    const { client } = stubClient(answered({ responseCode: 'B0003' }), morposDialect(), {}, trouble);
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

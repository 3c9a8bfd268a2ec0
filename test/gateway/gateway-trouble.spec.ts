import { GatewayTrouble } from '../../lib/gateway/gateway-trouble.js';
import type { GatewayDialect, GatewayOperation } from '../../lib/gateway/gateway-dialect.js';
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
      answered({ code: 'B0000' }, 401),
      `error The ${GATEWAY} refuses the request itself, not the card (HTTP 401, B0000,`,
    ],
    // No code is shown that may be a part of what was sent.
    [answered({ code: cardNo }, 401), `error The ${GATEWAY} refuses the request itself, not the card (HTTP 401, doPay`],
    [answered({ code: 'B0003' }), `error The ${GATEWAY} refuses the request itself, not the card (HTTP 200, B0003,`],
    [answered({ code: 'B0000' }), null],
    [
      answered({}),
      `error Nothing was sent to the payment gateway: the dialect's headers threw (doPayment): ${thrown}`,
      { headers: fail },
    ],
    [
      answered({ code: 'B0000' }),
      'error The dialect "morpos" threw while it read the gateway\'s answer to doPayment, which counts as unreadable, ' +
        `in read(): ${thrown}`,
      unread,
    ],
  ])('is told by the client: %j (%s)', async (...row) => {
    const [transmission, line, over] = row;
    await stubClient(transmission, { ...morposDialect(), ...over }, {}, trouble).pay();
    expect(log.map((it) => it.slice(0, line?.length))).toEqual(line === null ? [] : [line]);
    if (over) expect(records).toMatchObject([{ operation: 'doPayment', error: thrown.slice(0, -16) }]);
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

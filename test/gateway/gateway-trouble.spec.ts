import { GatewayTrouble } from '../../lib/gateway/gateway-trouble.js';
import type { GatewayOperation } from '../../lib/gateway/gateway-dialect.js';
import type { NoReply } from '../../lib/gateway/transport/attempt.js';
import { expectCases } from '../rigs/case-texts.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';

const SETTINGS = { baseUrl: 'https://gateway.example:8443/pos', dialect: morposDialect() };

// When something is told is in test/e2e/expected/log.txt and test/scripts/expected/faults.txt.
describe('trouble with the gateway', () => {
  const records: object[] = [];
  const log = logLines(records);

  /** The one line of this trouble, with its fields for a logger in JSON. */
  function lineOf(tell: (of: GatewayTrouble) => void, fields: object): string {
    records.length = log.length = 0;
    tell(new GatewayTrouble('eu', SETTINGS, new TestClock()));
    const message = log[0]?.replace('error ', '');
    const told = { account: 'eu', host: 'gateway.example:8443', message, ...fields };
    expect(records.map((it) => ({ ...it }))).toEqual(message === undefined ? [] : [told]);
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
});

import { type CallbackRefusal, PaymentCallbackError, PaymentStoreError } from '../../lib/errors/payment-errors.js';
import { CallbackResponder } from '../../lib/http/callback-responder.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';

describe('the log of refused callbacks', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let clock: TestClock;
  let responder: CallbackResponder;
  const response = { header: () => undefined, status: () => ({ send: () => undefined }) };
  const settings = { language: 'tr', publicUrl: 'https://shop.example', callbackUrl: null } as PaymentSettings;

  beforeEach(() => {
    clock = new TestClock();
    responder = new CallbackResponder(settings, clock);
  });

  function refuse(refusal: CallbackRefusal, times = 1): void {
    for (let time = 0; time < times; time += 1) responder.refuse(response, new PaymentCallbackError(refusal));
  }

  const lineOf = (refusal: string): string => `warn The callback was refused: ${refusal}.`;

  it('has three lines a minute for each kind, and then the number of the others', async () => {
    refuse('unknown_token', 1_000);
    refuse('missing_field');
    expect(log).toEqual([...Array<string>(3).fill(lineOf('unknown token')), lineOf('missing field')]);
    await clock.advance(59_999);
    refuse('unknown_token', 10);
    expect(log).toHaveLength(4);
    await clock.advance(1);
    expect(log.slice(4)).toEqual([`${lineOf('unknown token')} 1007 more in the same minute were not logged.`]);
  });

  it('starts over with the next minute, and leaves no timer behind', async () => {
    refuse('unknown_token', 4);
    await clock.advance(60_000);
    refuse('unknown_token', 3);
    expect(log).toHaveLength(7);
    expect(clock.sleeping).toBe(0);
  });

  it('has no count if no refusal was left out', async () => {
    refuse('foreign_payment', 3);
    await clock.advance(600_000);
    expect(log).toEqual(Array<string>(3).fill(lineOf('foreign payment')));
  });

  it('has the refusal as a field of the record', () => {
    refuse('foreign_payment');
    expect(records).toMatchObject([{ code: 'PAYMENT_CALLBACK', refusal: 'foreign_payment' }]);
  });

  it('has an error if the store failed, at most three times a minute', async () => {
    const failure = new PaymentStoreError('reading');
    for (let time = 0; time < 5; time += 1) responder.refuse(response, failure);
    const line = `error A callback could not be served; the buyer is asked to reload. ${failure.message}`;
    expect(log).toEqual([line, line, line]);
    expect(records[0]).toMatchObject({ code: 'PAYMENT_STORE' });
    await clock.advance(60_000);
    expect(log.slice(3)).toEqual([`${line} 2 more in the same minute were not logged.`]);
  });
});

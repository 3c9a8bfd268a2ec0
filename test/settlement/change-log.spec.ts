import { reportChange } from '../../lib/settlement/change-log.js';
import type { Payment, PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentState } from '../../lib/payment/states.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { logLines } from '../operations/log-lines.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const AT = new Date('2026-03-01T09:00:00Z');
const after = (ms: number): Date => new Date(AT.getTime() + ms);

describe('the log of payments', () => {
  let recorder: TelemetryRecorder;
  beforeAll(() => void (recorder = new TelemetryRecorder().start()));
  afterAll(() => recorder.stop());
  const records: unknown[] = [];
  const log = logLines(records);
  const before = { state: 'charging', updatedAt: AT } as const;

  function payment(fields: Partial<Payment> = {}): PaymentRecord {
    return aPaymentRecord({ conversationId: 'C1', reference: 'order-1', updatedAt: after(1_500), ...fields });
  }

  it('names the payment, its new state, the reason and the duration', () => {
    reportChange(payment({ state: 'failed', reason: 'declined', code: 'B0051' }), before);
    expect(log).toEqual(['log Payment C1 of order-1, 149.90 TRY: failed (declined, B0051) after 1500 ms']);
  });

  it('has each of these as a field of the record', () => {
    const { kind, version } = payment();
    reportChange(payment({ state: 'failed', reason: 'declined', code: 'B0051' }), before);
    expect(records[0]).toEqual({
      message: log[0]!.slice('log '.length),
      conversationId: 'C1',
      reference: 'order-1',
      account: 'default',
      kind,
      amount: '149.90',
      currency: 'TRY',
      state: 'failed',
      reason: 'declined',
      code: 'B0051',
      version,
      durationMs: 1_500,
    });
  });

  it.each<[string, Partial<Payment>, string]>([
    ['no reference', { reference: null }, 'Payment C1, 149.90 TRY: succeeded after 1500 ms'],
    ['a named account', { account: 'eu' }, 'Payment C1 of order-1 (account eu), 149.90 TRY: succeeded after 1500 ms'],
    ['only a code', { code: 'B0000' }, 'Payment C1 of order-1, 149.90 TRY: succeeded (B0000) after 1500 ms'],
    [
      'only a reason',
      { state: 'failed', reason: 'not_sent' },
      'Payment C1 of order-1, 149.90 TRY: failed (not_sent) after 1500 ms',
    ],
    [
      'yen',
      { amount: '1490', currencyCode: 392, code: 'B0000' },
      'Payment C1 of order-1, 1490 JPY: succeeded (B0000) after 1500 ms',
    ],
    ['an unknown currency code', { currencyCode: 999 }, 'Payment C1 of order-1, 149.90 999: succeeded after 1500 ms'],
  ])('is complete for a payment with %s', (_what, fields, line) => {
    const { state = 'succeeded' } = fields;
    reportChange(payment({ ...fields, state }), before);
    expect(log[0]!.replace(/^\w+ /, '')).toBe(line);
  });

  it.each<[number, string]>([
    [0, '0 ms'],
    [9_999, '9999 ms'],
    [10_000, '10 s'],
    [61_600, '62 s'],
    [-5_000, '0 ms'],
  ])('shows a duration of %i ms as %s', (ms, text) => {
    reportChange(payment({ updatedAt: after(ms) }), before);
    expect(log).toEqual([`log Payment C1 of order-1, 149.90 TRY: succeeded after ${text}`]);
  });

  it('has no duration for a new payment', () => {
    reportChange(payment({ state: 'charging' }), null);
    expect(log).toEqual(['log Payment C1 of order-1, 149.90 TRY: charging']);
    expect(records).toMatchObject([{ durationMs: null }]);
  });

  it.each<[PaymentState, string]>([
    ['charging', 'log'],
    ['awaiting', 'log'],
    ['succeeded', 'log'],
    ['failed', 'log'],
    ['expired', 'log'],
    ['unknown', 'warn'],
    ['review', 'warn'],
  ])('has the state %s at the level %s', (state, level) => {
    reportChange(payment({ state }), before);
    expect(log[0]).toMatch(new RegExp(`^${level} `));
  });

  it('is accompanied by a metric that counts each outcome once, and no intermediate state', async () => {
    const counted = async () =>
      (await recorder.points())
        .filter(
          ({ name, attributes }) => name === 'card_payment.outcomes' && attributes['card_payment.account'] === 'us',
        )
        .map(({ value }) => value);
    reportChange(payment({ account: 'us', state: 'awaiting' }), null);
    reportChange(payment({ account: 'us', state: 'unknown' }), { state: 'unknown', updatedAt: AT });
    expect(await counted()).toEqual([]);
    reportChange(payment({ account: 'us', state: 'succeeded' }), before);
    reportChange(payment({ account: 'us', state: 'succeeded' }), { state: 'succeeded', updatedAt: AT });
    expect(await counted()).toEqual([1]);
  });
});

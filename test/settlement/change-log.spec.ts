import { reportChange } from '../../lib/settlement/change-log.js';
import type { Payment, PaymentRecord } from '../../lib/payment/payment.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { logLines } from '../operations/log-lines.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const AT = new Date('2026-03-01T09:00:00Z');
const after = (ms: number): Date => new Date(AT.getTime() + ms);

describe('the log of payments', () => {
  let recorder: TelemetryRecorder;
  beforeAll(() => {
    recorder = new TelemetryRecorder().start();
    return connectTelemetry();
  });
  afterAll(() => recorder.stop());
  const records: unknown[] = [];
  const log = logLines(records);
  const before = { state: 'charging', updatedAt: AT } as const;

  function payment(fields: Partial<Payment> = {}): PaymentRecord {
    return aPaymentRecord({ conversationId: 'C1', reference: 'order-1', updatedAt: after(1_500), ...fields });
  }

  it('has each part of a line as a field of the record', () => {
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

  it.each<[line: string, fields: Partial<Payment>]>([
    ['log Payment C1 of order-1, 149.90 TRY: succeeded after 1500 ms', {}],
    [
      'log Payment C1 of order-1, 149.90 TRY: failed (declined, B0051) after 1500 ms',
      { state: 'failed', reason: 'declined', code: 'B0051' },
    ],
    ['log Payment C1, 149.90 TRY: succeeded after 1500 ms', { reference: null }],
    ['log Payment C1 of order-1 (account eu), 149.90 TRY: succeeded after 1500 ms', { account: 'eu' }],
    ['log Payment C1 of order-1, 149.90 TRY: succeeded (B0000) after 1500 ms', { code: 'B0000' }],
    ['log Payment C1 of order-1, 149.90 TRY: failed (not_sent) after 1500 ms', { state: 'failed', reason: 'not_sent' }],
    [
      'log Payment C1 of order-1, 1490 JPY: succeeded (B0000) after 1500 ms',
      { amount: '1490', currencyCode: 392, code: 'B0000' },
    ],
    ['log Payment C1 of order-1, 149.90 999: succeeded after 1500 ms', { currencyCode: 999 }],
    ['log Payment C1 of order-1, 149.90 TRY: succeeded after 0 ms', { updatedAt: after(0) }],
    ['log Payment C1 of order-1, 149.90 TRY: succeeded after 9999 ms', { updatedAt: after(9_999) }],
    ['log Payment C1 of order-1, 149.90 TRY: succeeded after 10 s', { updatedAt: after(10_000) }],
    ['log Payment C1 of order-1, 149.90 TRY: succeeded after 62 s', { updatedAt: after(61_600) }],
    ['log Payment C1 of order-1, 149.90 TRY: succeeded after 0 ms', { updatedAt: after(-5_000) }],
    ['log Payment C1 of order-1, 149.90 TRY: charging after 1500 ms', { state: 'charging' }],
    ['log Payment C1 of order-1, 149.90 TRY: awaiting after 1500 ms', { state: 'awaiting' }],
    ['log Payment C1 of order-1, 149.90 TRY: expired after 1500 ms', { state: 'expired' }],
    ['warn Payment C1 of order-1, 149.90 TRY: unknown after 1500 ms', { state: 'unknown' }],
    ['warn Payment C1 of order-1, 149.90 TRY: review after 1500 ms', { state: 'review' }],
  ])('says "%s"', (line, fields) => {
    reportChange(payment({ state: 'succeeded', ...fields }), before);
    expect(log).toEqual([line]);
  });

  it('has no duration for a new payment', () => {
    reportChange(payment({ state: 'charging' }), null);
    expect(log).toEqual(['log Payment C1 of order-1, 149.90 TRY: charging']);
    expect(records).toMatchObject([{ durationMs: null }]);
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

import { EXPORT_COLUMNS } from '../../lib/cli/export.js';
import { saleText } from '../../lib/payment/refund.js';
import { toPayment } from '../../lib/payment/payment.js';
import { sqlitePaymentStore } from '../../lib/store/sql/index.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { cliHere } from './cli.js';
import { documentedFields } from './documented.js';

const NOVEMBER = ['payments', 'export', '--from', '2025-11-01', '--to', '2025-11-30'];

describe('payments export', () => {
  const { path: cwd, file, remove } = makeScratchFolder('cli');
  const store = sqlitePaymentStore({ file: file('payments.sqlite') });
  const said = (...more: string[]) =>
    cliHere([...NOVEMBER, ...more], { cwd, env: { PAYMENT_STORE_URL: 'sqlite:payments.sqlite' } });
  beforeAll(() => store.open());
  afterAll(async () => {
    await store.close();
    remove();
  });

  it('has the fields that its page names', () => expect(EXPORT_COLUMNS).toEqual(documentedFields('payments export')));

  it('writes each payment and refund once, the earliest first, whatever the size of a page', async () => {
    const expected: string[] = [];
    for (let number = 0; number < 450; number += 1) {
      // Many at the same moment, more than a page of them.
      const at = new Date(Date.UTC(2025, 10, 5, 9) + Math.floor(number / 250));
      const conversationId = `P${String(number).padStart(4, '0')}`;
      const sale = aPaymentRecord({
        conversationId,
        reference: conversationId,
        createdAt: at,
        updatedAt: at,
        finalizedAt: at,
      });
      await store.insert(sale);
      expected.push(conversationId);
      if (number % 10 !== 0) continue;
      const refund = { kind: 'refund', parentId: conversationId, referenceLock: null, amount: '10.00' } as const;
      const finalizedAt = new Date(Date.UTC(2025, 10, 6));
      const ids = { conversationId: `R${number}`, sale: saleText(toPayment(sale)), finalizedAt };
      await store.insert(aPaymentRecord({ ...refund, ...ids }));
      expected.push(`R${number}`);
    }
    const { status, stdout, stderr } = await said('--format', 'json');
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining('450 payments and 45 refunds and voids in succeeded'),
    ]);
    const entries = JSON.parse(stdout) as { conversationId: string; refundId: string | null; finalizedAt: string }[];
    expect(entries.map(({ refundId, conversationId }) => refundId ?? conversationId).sort()).toEqual(expected.sort());
    const times = entries.map(({ finalizedAt }) => finalizedAt);
    expect(times).toEqual([...times].sort());
  });

  it('refuses a period that ended less than a minute ago', async () => {
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
    const late = await said('--to', ago(50));
    expect([late.status, late.stdout]).toEqual([2, '']);
    expect(late.stderr).toContain('--to: the period must have ended at least a minute ago');
    expect((await said('--to', ago(70))).status).toBe(0);
  });
});

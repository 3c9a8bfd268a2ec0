import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import Database from 'better-sqlite3';
import { recordToJson } from '../../lib/store/record-json.js';
import { sqlitePaymentStore } from '../../lib/store/sql/index.js';
import { sale, useMerchant } from '../e2e/merchant.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { builtMain, cli } from './cli.js';

/** So many of this size do not fit into a heap of this size: the process would end. */
const MANY = 2_500;
const MESSAGE = 'x'.repeat(24_000);
const HEAP_MIB = 56;

/** Starts the built command line; `shown` is what it printed on standard error. */
function start(words: readonly string[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }, flags: string[] = []) {
  const child = spawn(process.execPath, [...flags, builtMain(), ...words], { cwd, env });
  const shown = { stderr: '' };
  child.stderr.on('data', (chunk: Buffer) => (shown.stderr += chunk.toString()));
  return { child, shown };
}

const endOf = (child: ChildProcess) => once(child, 'close');

describe('a refund as a process', () => {
  const { path: cwd, file, remove } = makeScratchFolder('cli');
  const storeUrl = `sqlite:${file('payments.sqlite')}`;
  const shop = useMerchant({ options: { storeUrl, background: false } });
  let id: string;
  let env: Record<string, string>;
  beforeAll(() => {
    env = { ...variablesOf(shop.simulator), PAYMENT_STORE_URL: storeUrl };
  });
  beforeEach(async () => {
    ({ conversationId: id } = await shop.payments.doPayment(sale()));
  });
  afterAll(remove);

  it.each([['refund'], ['void']])('%s is refused without a terminal, unless it is told --yes', async (act) => {
    const { status, stdout, stderr } = await cli(['payments', act, id], { cwd, env });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`"payments ${act}" asks before it sends anything, and there is no terminal here`);
    expect(await shop.payments.refunds(id)).toEqual([]);
  });

  it('asks at a terminal, and takes the end of the input for a no', async () => {
    // `script` gives the command a terminal.
    const command = `${process.execPath} ${builtMain()} payments refund ${id}`;
    for (const typed of ['n\n', '\u0004']) {
      const options = { cwd, env: { ...env, PATH: process.env['PATH'] } };
      const child = spawn('script', ['-qec', command, '/dev/null'], options);
      let shown = '';
      child.stdout.on('data', (chunk: Buffer) => {
        shown += chunk.toString();
        if (shown.includes('[y/N]')) child.stdin.end(typed);
      });
      expect(await endOf(child)).toEqual([1, null]);
      expect(shown).toContain('Nothing was sent.');
    }
    expect(await shop.payments.refunds(id)).toEqual([]);
  });

  it('is found by its id after the process was killed while the gateway was asked', async () => {
    const stall = shop.simulator.fail({ operation: 'refund', at: 'before', kind: 'stall' });
    const { child, shown } = start(['payments', 'refund', id, '--amount', '5', '--yes'], { cwd, env });
    await stall.played;
    child.kill('SIGKILL');
    await endOf(child);
    const [, refundId = ''] = /^Sending the refund (\w+) of payment/.exec(shown.stderr) ?? [];
    expect(await shop.payments.refunds(id)).toMatchObject([{ refundId, state: 'refunding' }]);
    expect(await shop.payments.refundTotals(id)).toMatchObject({ open: '5.00', refundable: '144.90' });
    const again = await cli(['payments', 'refund', id, '--refund-id', refundId, '--yes'], { cwd, env });
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('It is still under way.')]);
  });

  it('goes on, and is stored, if nobody reads what is printed', async () => {
    const { child } = start(['payments', 'refund', id, '--yes'], { cwd, env });
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await endOf(child)).toEqual([0, null]);
    expect(await shop.payments.refunds(id)).toMatchObject([{ state: 'succeeded' }]);
  });
});

describe('an export as a process', () => {
  const { path: cwd, file, remove } = makeScratchFolder('cli');
  const store = sqlitePaymentStore({ file: file('payments.sqlite') });
  const words = ['payments', 'export', '--from', '2025-11-01', '--to', '2025-11-30'];
  const env = { PAYMENT_STORE_URL: `sqlite:${file('payments.sqlite')}`, PATH: process.env['PATH'] };
  const run = (...more: string[]) => start([...words, ...more], { cwd, env }, [`--max-old-space-size=${HEAP_MIB}`]);
  const files = () => readdirSync(cwd).filter((name) => !name.startsWith('payments.sqlite'));
  beforeAll(async () => {
    await store.open();
    const database = new Database(file('payments.sqlite'));
    const insert = database.prepare(
      `insert into card_payment (account, conversation_id, version, state, is_refund, created_at, updated_at, finalized_at)
        values ('default', ?, 3, 'succeeded', 0, ?, ?, ?)`,
    );
    const insertVersion = database.prepare(
      `insert into card_payment_version (account, conversation_id, version, record) values ('default', ?, 3, ?)`,
    );
    database.transaction(() => {
      for (let number = 0; number < MANY; number += 1) {
        // A few at the same moment.
        const at = new Date(Date.UTC(2025, 10, 1, 9) + Math.floor(number / 3));
        const conversationId = `P${number}`;
        const record = aPaymentRecord({ conversationId, createdAt: at, finalizedAt: at, message: MESSAGE });
        insert.run(conversationId, at.getTime(), at.getTime(), at.getTime());
        insertVersion.run(conversationId, recordToJson(record));
      }
    })();
    database.close();
  });
  afterAll(async () => {
    await store.close();
    remove();
  });

  it('writes any number of payments with little memory, each once', async () => {
    const { child } = run();
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    expect(await endOf(child)).toEqual([0, null]);
    const ids = [...text.matchAll(/,(P\d+),/g)].map(([, id]) => id);
    expect([ids.length, new Set(ids).size]).toEqual([MANY, MANY]);
  });

  it('leaves no file behind at a signal', async () => {
    const { child } = run('--output', 'told.csv');
    while (!files().some((name) => name.startsWith('.told.csv'))) await new Promise(setImmediate);
    child.kill('SIGTERM');
    expect(await endOf(child)).toEqual([1, null]);
    expect(files()).toEqual([]);
  });
});

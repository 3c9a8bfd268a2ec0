import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { EXPORT_COLUMNS } from '../../lib/cli/export.js';
import { recordToJson } from '../../lib/store/record-json.js';
import { builtMain, cliHere } from './cli.js';
import { documentedFields } from './documented.js';
import { shapeOf } from './json-shapes.js';
import { scratch } from './scratch.js';
import { Books, noon } from './books.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u202e]/g;
/** What a spreadsheet runs. */
const FORMULA = /^\s*[=+\-@＝]/;

type Entry = Readonly<Record<string, string | number | null>>;

const NOVEMBER = ['payments', 'export', '--from', '2025-11-01', '--to', '2025-11-30'];
/** So many of this size do not fit into a heap of this size: the process would end. */
const MANY = 10_000;
const MESSAGE = 'x'.repeat(6_000);
const HEAP_MIB = 56;

/** Reads CSV by RFC 4180, strictly: quotes, delimiters and line ends have to be where they belong. */
function parsed(csv: string, delimiter = ','): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < csv.length) {
    let cell = '';
    if (csv[at] === '"') {
      for (at += 1; ; at += 1) {
        if (at >= csv.length) throw new Error('a quoted cell does not end');
        if (csv[at] !== '"') cell += csv[at];
        else if (csv[at + 1] === '"') cell += csv[(at += 1)];
        else break;
      }
      at += 1;
    } else {
      while (at < csv.length && csv[at] !== delimiter && csv[at] !== '\r') {
        if (csv[at] === '"' || csv[at] === '\n') throw new Error(`a quote or line end in a plain cell at ${at}`);
        cell += csv[at];
        at += 1;
      }
    }
    row.push(cell);
    if (csv[at] === delimiter) at += 1;
    else if (csv.startsWith('\r\n', at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`neither a delimiter nor a line end at ${at}`);
  }
  return rows;
}

/** The entries of CSV, by the names in its first line. */
function entriesOf(csv: string, delimiter?: string): Record<string, string>[] {
  const [names = [], ...rows] = parsed(csv, delimiter);
  expect(names).toEqual(EXPORT_COLUMNS);
  return rows.map((row) => {
    expect(row).toHaveLength(names.length);
    return Object.fromEntries(names.map((name, index) => [name, row[index] ?? '']));
  });
}

describe('payments export', () => {
  let place: ReturnType<typeof scratch>;
  let books: Books;
  let env: Record<string, string>;
  beforeEach(async () => {
    place = scratch();
    const storeUrl = `sqlite:${place.file('payments.sqlite')}`;
    books = await Books.open(storeUrl);
    env = { PAYMENT_STORE_URL: storeUrl };
  });
  afterEach(async () => {
    await books.store.close();
    place.remove();
  });

  const said = (...more: string[]) => cliHere([...NOVEMBER, ...more], { cwd: place.folder, env });
  const files = () => readdirSync(place.folder).filter((name) => !name.startsWith('payments.sqlite'));

  it('writes the payments and refunds of a period, each once, the earliest first, whatever the size of a page', async () => {
    const expected: string[] = [];
    for (let chunk = 0; chunk < 9; chunk += 1) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const number = chunk * 50 + index;
          // Many at the same moment, more than a page of them.
          const finalizedAt = noon(5, Math.floor(number / 250));
          const sale = await books.sale(`P${String(number).padStart(4, '0')}`, { finalizedAt });
          expected.push(sale.conversationId);
          if (number % 10 !== 0) return;
          await books.refund(sale, `R${number}`, { finalizedAt: noon(6) });
          expected.push(`R${number}`);
        }),
      );
    }
    await books.sale('BEFORE', { finalizedAt: new Date('2025-10-31T20:59:59.999Z') });
    await books.sale('FIRST', { finalizedAt: new Date('2025-10-31T21:00:00.000Z') });
    await books.sale('LAST', { finalizedAt: new Date('2025-11-30T20:59:59.999Z') });
    await books.sale('AFTER', { finalizedAt: new Date('2025-11-30T21:00:00.000Z') });
    await books.sale('FAILED', { state: 'failed' });
    await books.sale('UNKNOWN', { state: 'unknown', finalizedAt: null });
    const { status, stdout, stderr } = await said();
    expect(status).toBe(0);
    expect(stderr).toContain(
      '452 payments and 45 refunds and voids in succeeded, settled from 2025-11-01T00:00:00.000+03:00',
    );
    expect(stderr).toContain('they have no outcome yet: 1 payment and 0 refunds and voids');
    const entries = entriesOf(stdout);
    const ids = entries.map(({ refundId, conversationId }) => refundId || conversationId);
    expect([...ids].sort()).toEqual([...expected, 'FIRST', 'LAST'].sort());
    const times = entries.map(({ finalizedAt }) => finalizedAt);
    expect(times).toEqual([...times].sort());
    expect([ids[0], ids.at(-1)]).toEqual(['FIRST', 'LAST']);

    const all = await said('--state', 'all', '--format', 'json');
    const json = JSON.parse(all.stdout) as readonly Entry[];
    expect(json).toHaveLength(entries.length + 1);
    const fields = documentedFields('payments export');
    expect(Object.keys(json[0]!)).toEqual(fields);
    expect(shapeOf(json)).toEqual([Object.fromEntries(fields.map((name) => [name, 'a value']))]);
    // Its fields are those of the CSV.
    const cells = json
      .filter(({ state }) => state === 'succeeded')
      .map((entry) =>
        Object.fromEntries(
          Object.entries(entry).map(([column, value]) => [column, value === null ? '' : String(value)]),
        ),
      );
    expect(cells).toEqual(entries);
  });

  it('says of each what accounting needs, in the zone, and a refund names its payment', async () => {
    const sale = await books.sale('P1', {
      kind: '3d',
      chargedAmount: '60.00',
      orderId: 'O-1',
      paymentId: 'P-1',
      bankUniqueReferenceNumber: '503615446559',
      authCode: '007',
      code: 'B0000',
      installmentCount: 3,
      commissionRate: '1.50',
      commissionAmount: '0.9000',
      transactionDate: '10/11/2026 12:00:00',
      transactionAt: noon(10),
    });
    await books.refund(sale, 'R1', { finalizedAt: noon(11), reason: 'recorded' });
    const { stdout } = await said('--format', 'json', '--zone', 'America/New_York');
    expect(JSON.parse(stdout)).toEqual([
      {
        ...{
          finalizedAt: '2025-11-10T04:00:00.000-05:00',
          kind: 'sale',
          method: '3d',
          state: 'succeeded',
          reason: null,
        },
        ...{ conversationId: 'P1', refundId: null, reference: 'order-P1', orderId: 'O-1', paymentId: 'P-1' },
        ...{ bankUniqueReferenceNumber: '503615446559', authCode: '007', amount: '60.00', chargedAmount: '60.00' },
        ...{
          currency: 'TRY',
          currencyCode: 949,
          installmentCount: 3,
          commissionRate: '1.50',
          commissionAmount: '0.9000',
        },
        ...{ maskedCardNumber: '450803******4509', code: 'B0000', transactionDate: '10/11/2026 12:00:00' },
        ...{ transactionAt: '2025-11-10T04:00:00.000-05:00', createdAt: '2025-11-10T04:00:00.000-05:00' },
        account: 'default',
      },
      expect.objectContaining({
        ...{ kind: 'refund', conversationId: 'P1', refundId: 'R1', reference: 'order-P1', amount: '10.00' },
        ...{ reason: 'recorded', method: '3d', maskedCardNumber: '450803******4509', account: 'default' },
      }),
    ]);
  });

  it('makes what a spreadsheet would run harmless, and leaves amounts numbers, even below zero', async () => {
    const hostile = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\n=1',
      ' =cmd|x',
      '＝1+1',
      'a,"b";\r\nc',
      'ş€🧾',
      "'x",
      'a\u001b]52;c;eA==\u0007\u009b\u202eb',
    ];
    for (const [index, orderId] of hostile.entries()) {
      await books.sale(`P${index}`, {
        finalizedAt: noon(1, index),
        orderId,
        commissionAmount: '-1.25',
        paymentId: '-1.25',
      });
    }
    for (const [format, mark, delimiter, sign] of [
      ['csv', '', ',', '.'],
      ['excel', '\uFEFF', ';', ','],
    ] as const) {
      const { stdout } = await said('--format', format);
      expect(stdout.replaceAll('\r\n', '')).not.toMatch(CONTROLS);
      expect(stdout.slice(0, mark.length + 1)).toBe(`${mark}f`);
      const entries = entriesOf(stdout.slice(mark.length), delimiter);
      expect(entries.map(({ orderId }) => orderId)).toEqual(
        hostile.map((text) => text.replace(CONTROLS, '\uFFFD')).map((text) => (FORMULA.test(text) ? `'${text}` : text)),
      );
      expect(new Set(entries.map(({ commissionAmount }) => commissionAmount))).toEqual(new Set([`-1${sign}25`]));
      expect(new Set(entries.map(({ paymentId }) => paymentId))).toEqual(new Set(["'-1.25"]));
      // No cell begins with what a spreadsheet runs, even where it splits the lines by another delimiter.
      expect(stdout.replaceAll(/"(?:[^"]|"")*"/g, 'QUOTED')).not.toMatch(
        /(?:^|[,;\t\n])\s*(?:[=+@]|-(?![\d.,]+(?:[,;\t\r]|$)))/m,
      );
    }
    const { stdout: text } = await said('--format', 'json');
    expect(text.replaceAll('\n', '')).not.toMatch(CONTROLS);
    const json = JSON.parse(text) as readonly Entry[];
    expect(json.map(({ orderId }) => orderId)).toEqual(hostile);
  });

  it('writes nothing but the names where nothing was settled', async () => {
    expect((await said()).stdout).toBe(`${EXPORT_COLUMNS.join(',')}\r\n`);
    expect((await said('--format', 'json')).stdout).toBe('[]\n');
  });

  it('replaces a file when all is written, and leaves it as it was if that fails', async () => {
    await books.sale('P1');
    const path = place.file('november.csv');
    writeFileSync(path, 'october', { mode: 0o644 });
    const { status, stdout } = await said('--output', 'november.csv');
    expect({ status, stdout, files: files() }).toEqual({ status: 0, stdout: '', files: ['november.csv'] });
    expect(entriesOf(readFileSync(path, 'utf8'))).toMatchObject([{ conversationId: 'P1' }]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'october');
    const damaged = new Database(place.file('payments.sqlite'));
    damaged.prepare(`update card_payment_version set record = 'no record'`).run();
    damaged.close();
    const failed = await said('--output', 'november.csv');
    expect(failed).toMatchObject({ status: 1, stdout: '' });
    expect({ text: readFileSync(path, 'utf8'), files: files() }).toEqual({ text: 'october', files: ['november.csv'] });
  });

  it('shows of a payment what is proven to be its own, even once an operator settled it', async () => {
    const foreign = {
      ...{ chargedAmount: '1.00', orderId: 'O-9', paymentId: 'P-9', bankUniqueReferenceNumber: '99', authCode: '999' },
      ...{
        commissionRate: '9',
        commissionAmount: '0.09',
        transactionDate: '10/11/2025 12:00:00',
        transactionAt: noon(9),
      },
    };
    const sale = await books.sale('P1', {
      ...foreign,
      state: 'review',
      reason: 'conversation_mismatch',
      isUnproven: true,
      finalizedAt: null,
    });
    const settled = {
      state: 'succeeded',
      reason: 'operator',
      finalizedAt: noon(10),
      version: sale.version + 1,
    } as const;
    await books.store.replace({ ...sale, ...settled }, sale);
    await books.sale('P2', { ...foreign, isUnproven: true });
    await books.sale('P3', foreign);
    const { stdout } = await said('--format', 'json');
    const ids = { chargedAmount: '1.00', orderId: 'O-9', paymentId: 'P-9' };
    const none = Object.fromEntries(Object.keys(foreign).map((name) => [name, null]));
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ conversationId: 'P1', amount: '60.00', ...none }),
      expect.objectContaining({ conversationId: 'P2', ...none }),
      expect.objectContaining({ conversationId: 'P3', ...ids }),
    ]);
  });

  it('refuses a period that ended less than a minute ago', async () => {
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
    const late = await said('--to', ago(50));
    expect([late.status, late.stdout]).toEqual([2, '']);
    expect(late.stderr).toContain('--to: the period must have ended at least a minute ago');
    expect((await said('--to', ago(70))).status).toBe(0);
  });

  it('writes any number of payments with little memory, and ends quietly if its reader leaves', async () => {
    fill(MANY);
    const whole = run([]);
    let lines = 0;
    whole.stdout.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 10) lines += 1;
    });
    expect(await once(whole, 'close')).toEqual([0, null]);
    expect(lines).toBe(1 + MANY);

    const left = run([]);
    left.stdout.once('data', () => left.stdout.destroy());
    let stderr = '';
    left.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await once(left, 'close')).toEqual([0, null]);
    expect(stderr).toBe('');

    const told = run(['--output', 'told.csv']);
    while (!files().some((name) => name.startsWith('.told.csv'))) await new Promise(setImmediate);
    told.kill('SIGTERM');
    expect(await once(told, 'close')).toEqual([1, null]);
    expect(files()).toEqual([]);

    function run(more: readonly string[]) {
      const args = [`--max-old-space-size=${HEAP_MIB}`, builtMain(), ...NOVEMBER, ...more];
      return spawn(process.execPath, args, { cwd: place.folder, env: { ...env, PATH: process.env['PATH'] } });
    }

    function fill(count: number): void {
      const database = new Database(place.file('payments.sqlite'));
      const insert = database.prepare(
        `insert into card_payment (account, conversation_id, version, state, is_refund, created_at, updated_at, finalized_at)
          values ('default', ?, 3, 'succeeded', 0, ?, ?, ?) on conflict do nothing`,
      );
      const insertVersion = database.prepare(
        `insert into card_payment_version (account, conversation_id, version, record) values ('default', ?, 3, ?)
          on conflict do nothing`,
      );
      database.transaction(() => {
        for (let number = 0; number < count; number += 1) {
          // A few at the same moment.
          const [conversationId, at] = [`P${number}`, noon(1, Math.floor(number / 3))];
          const record = aPaymentRecord({ conversationId, createdAt: at, finalizedAt: at, message: MESSAGE });
          insert.run(conversationId, at.getTime(), at.getTime(), at.getTime());
          insertVersion.run(conversationId, recordToJson(record));
        }
      })();
      database.close();
    }
  }, 120_000);
});

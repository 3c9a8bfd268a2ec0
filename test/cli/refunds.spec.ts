import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { newConversationId, type Refund, type RefundTotals } from 'nestjs-card-payment';
import { builtMain, cli } from './cli.js';
import { documentedText } from './documented.js';
import { scratch } from './scratch.js';
import { Shop } from './shop.js';

interface Listed {
  readonly refunds: readonly (Refund & { readonly currency: string })[];
  readonly totals: RefundTotals | null;
}

const { folder: cwd, remove } = scratch();
let shop: Shop;
/** A payment of which nothing is given back. */
let id: string;

const listed = (id: string) => shop.json<Listed>('refunds', id);
/** What `refund` and `void` print, as a script calls them. */
const json = (...words: string[]) => shop.json<{ refund: Refund }>(words[0]!, ...words.slice(1), '--yes');

describe('refunds by the command line', () => {
  beforeAll(async () => {
    shop = await Shop.open(cwd);
    id = await shop.paid();
  });
  afterAll(async () => {
    await shop?.close();
    remove();
  });

  it('gives a part back once for each key, and names the refund before it is sent', async () => {
    const paid = await shop.paid();
    const words = [
      'refund',
      paid,
      '--amount',
      '49.90',
      '--key',
      'k-1',
      '--note',
      'one shoe',
      '--by',
      'ada@shop.example',
    ];
    const { status, stdout, stderr } = await shop.said([...words, '--yes']);
    expect(status).toBe(0);
    const [, refundId = ''] = /^Sending the refund (\w+) of payment/.exec(stderr) ?? [];
    expect(stderr).toBe(`Sending the refund ${refundId} of payment ${paid}: 49.90 TRY\n`);
    expect(stdout).toMatch(/^refund\n {2}refundId +\w+\n[\s\S]*\n {2}state +succeeded\n[\s\S]*\n {2}amount +49\.90\n/);
    const again = await shop.said([...words, '--yes']);
    expect(again).toMatchObject({ status: 0, stderr: 'Nothing was sent: this refund was asked for before.\n' });
    expect(shop.simulator.ledger.refundedAmount(paid)).toBe('49.90');
    expect(shop.simulator.ledger.calls('refund', refundId)).toBe(1);

    expect(await listed(paid)).toMatchObject({
      refunds: [{ refundId, state: 'succeeded', amount: '49.90', currency: 'TRY', note: 'one shoe' }],
      totals: { taken: '149.90', refunded: '49.90', open: '0.00', refundable: '100.00' },
    });
    expect((await shop.said(['refunds', paid])).stdout).toMatch(
      /\nrefunds: 1\n {2}refundId .*\n {2}\w+ +refund +succeeded +49\.90 +TRY .* one shoe {2}ada@shop\.example\ntotals\n {2}taken +149\.90\n/,
    );
    expect(await shop.json('show', paid)).toMatchObject({
      history: [{ refundId: null }, { refundId: null }, { refundId, state: 'refunding' }, { refundId }],
      refunds: [{ refundId }],
      totals: { refundable: '100.00' },
    });
    expect(JSON.parse((await shop.said(['show', refundId, '--json'])).stdout)).toMatchObject({
      refund: { refundId, conversationId: paid, by: 'ada@shop.example' },
      history: [{ state: 'refunding' }, { state: 'succeeded' }],
    });
  });

  it('gives back all that is left where no amount is given, with the id that is given', async () => {
    const paid = await shop.paid();
    await shop.said(['refund', paid, '--amount', '100', '--yes']);
    const refundId = newConversationId();
    expect(await json('refund', paid, '--refund-id', refundId)).toMatchObject({
      refund: { refundId, amount: '49.90', state: 'succeeded' },
    });
    expect(shop.simulator.ledger.refundedAmount(paid)).toBe('149.90');
    const more = await shop.said(['refund', paid, '--json', '--yes']);
    expect(more).toMatchObject({ status: 1, stdout: '' });
    expect(more.stderr).toContain('it is more than is left. 0.00 is left to give back; nothing was sent.');
  });

  it('voids a whole payment, after which nothing is left', async () => {
    const paid = await shop.paid();
    expect(await json('void', paid)).toMatchObject({ refund: { kind: 'void', amount: '149.90' } });
    expect(await listed(paid)).toMatchObject({ totals: { refunded: '149.90', refundable: '0.00' } });
    const refused = await shop.said(['refund', paid, '--yes']);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('the payment was voided')]);
  });

  it('ends with 1 if the outcome is unknown, counts and lists it, and the gateway settles it', async () => {
    const paid = await shop.paid();
    shop.simulator.fail({ operation: 'refund', kind: 'close' });
    const unknown = await shop.said(['refund', paid, '--amount', '10.00', '--yes']);
    const [, refundId = ''] = /^Sending the refund (\w+) of payment/.exec(unknown.stderr) ?? [];
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining('so do not repeat it')]);
    const second = await shop.said(['refund', paid, '--amount', '10.00', '--yes']);
    expect(second).toMatchObject({ status: 1, stdout: '' });
    expect(second.stderr).toContain(`has no outcome yet. 139.90 is left to give back`);
    expect(await shop.json('list')).toMatchObject({ besides: { openRefunds: 1 } });
    expect((await shop.said(['refunds'])).stdout).toMatch(/\nrefunds: 1\n.*\n.* unknown /);
    expect(await shop.json('stats')).toMatchObject({ refunds: { refunding: { count: 0 }, unknown: { count: 1 } } });

    const settled = JSON.parse((await shop.said(['inquire', refundId, '--json'])).stdout) as object;
    expect(settled).toMatchObject({ refund: { refundId, state: 'succeeded' } });
    expect(shop.simulator.ledger.refundedAmount(paid)).toBe('10.00');
    expect(await shop.json('list')).toMatchObject({ besides: { openRefunds: 0 } });
  });

  it('lets an operator resolve a refund, and shows who did', async () => {
    const paid = await shop.paid();
    shop.simulator.fail({ operation: 'refund', kind: 'close' });
    const { refund } = await json('refund', paid, '--amount', '10.80');
    expect(refund.state).toBe('unknown');
    const words = ['resolve', refund.refundId, 'failed', '--note', 'not in the panel', '--by', 'ada'];
    expect(await shop.said([...words, '--json'])).toMatchObject({ status: 0, stderr: '' });
    expect((await shop.said(['show', refund.refundId])).stdout).toMatch(/ failed +operator +ada +not in the panel /);
    expect(await listed(paid)).toMatchObject({ totals: { refundable: '149.90' } });
    await expect(shop.said(words)).resolves.toMatchObject({ status: 1, stdout: '' });
  });

  it('writes down a refund of the panel once, without settings of the gateway', async () => {
    const paid = await shop.paid();
    const env = { PAYMENT_STORE_URL: shop.env['PAYMENT_STORE_URL']! };
    const words = ['record-refund', paid, '--amount', '49.90', '--key', `panel-${paid}`, '--note', 'in the panel'];
    for (const _time of [1, 2]) expect(await shop.said(words, env)).toMatchObject({ status: 0, stderr: '' });
    expect((await listed(paid)).refunds).toMatchObject([{ reason: 'recorded', amount: '49.90' }]);
    expect(shop.simulator.ledger.refundedAmount(paid)).toBe('0.00');
    expect(
      await shop.json('record-refund', paid, '--amount', '100', '--refund-id', `P-${paid}`, '--note', 'panel'),
    ).toMatchObject({ refund: { refundId: `P-${paid}`, amount: '100.00' } });
    const more = await shop.said(['record-refund', paid, '--amount', '0.01', '--key', 'more', '--note', 'panel'], env);
    expect(more).toMatchObject({ status: 1, stdout: '' });
  });

  const sent = () => shop.simulator.ledger.calls('refund') + shop.simulator.ledger.calls('void');
  const PLAN = [
    /^kind {14}refund$/m,
    /^conversationId {4}\w+$/m,
    /^reference {9}order-/m,
    /^maskedCardNumber {2}\d{6}\*{6}\d{4}$/m,
    /^amount {12}10\.00$/m,
    /^refundable {8}149\.90$/m,
  ];

  it.each([['n'], ['no'], [''], ['nyes'], ['yes please'], ['ja'], ['10.00']])(
    'it asks, and %j sends nothing',
    async (typed) => {
      const before = sent();
      const { status, stdout, stderr } = await shop.typed(typed, ['refund', id, '--amount', '10']);
      for (const fact of PLAN) expect(stderr).toMatch(fact);
      const namesIn = (text: string) => text.match(/^\w+(?= {2})|^Send [^[]*/gm);
      expect(namesIn(stderr)).toEqual(namesIn(documentedText('payments refund')));
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/Send this refund\? \[y\/N\] Nothing was sent\.\n$/);
      expect(sent()).toBe(before);
      expect((await listed(id)).refunds).toEqual([]);
    },
  );

  it.each([['refund'], ['void']])(
    '%s by a process without a terminal is refused, unless it is told --yes',
    async (act) => {
      const { stderr } = await shop.said([act, id]);
      const piped = await cli(['payments', act, id], { cwd, env: shop.env });
      expect([piped.status, piped.stdout, piped.stderr]).toEqual([2, '', stderr]);
      expect((await listed(id)).refunds).toEqual([]);
    },
  );

  it('it shows what it would send with --dry-run, and whether there is so much', async () => {
    const before = sent();
    const dry = await shop.said(['refund', id, '--amount', '10', '--dry-run']);
    for (const fact of PLAN) expect(dry.stdout).toMatch(fact);
    expect(dry.status).toBe(0);
    const { status, stdout } = await shop.said(['refund', id, '--amount', '149.91', '--dry-run', '--json']);
    expect([status, JSON.parse(stdout)]).toEqual([1, expect.objectContaining({ dryRun: true, refundable: '149.90' })]);
    expect((await shop.said(['void', id, '--dry-run'])).stdout).toMatch(/^amount {12}149\.90$/m);
    expect(sent()).toBe(before);
  });

  it.each([['y'], ['YES '], ['yes']])('it sends what was shown where %j is typed', async (typed) => {
    const other = await shop.paid();
    const { status, stderr } = await shop.typed(typed, ['refund', other]);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/\[y\/N\] Sending the refund \w+ .*: 149\.90 TRY\n$/)]);
    expect(shop.simulator.ledger.refundedAmount(other)).toBe('149.90');
  });

  it('it sends nothing where another amount is left by then than was shown', async () => {
    const other = await shop.paid();
    const meanwhile = async () => {
      await shop.payments.refund({ conversationId: other, amount: '0.90' });
      return 'y';
    };
    const { status, stderr } = await shop.typed(meanwhile, ['refund', other]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('its amount is not the one that was shown')]);
    expect(shop.simulator.ledger.refundedAmount(other)).toBe('0.90');
  });

  it('an id is refused that is taken', async () => {
    const other = await shop.paid();
    await shop.said(['refund', other, '--amount', '1', '--refund-id', 'TAKEN', '--yes']);
    for (const [refundId, why] of [
      ['TAKEN', `It is TAKEN of payment ${other}.`],
      [other, 'This refundId is already taken by a payment'],
    ] as const) {
      const taken = await shop.said(['refund', id, '--refund-id', refundId, '--yes']);
      expect([taken.status, taken.stdout, taken.stderr]).toEqual([1, '', expect.stringContaining(why)]);
    }
  });

  it('a refund that the gateway declines fails with the reason', async () => {
    const { status, stdout, stderr } = await shop.said(['refund', id, '--amount', '10.80', '--yes']);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/\nNothing was given back\.\n$/)]);
    expect(stdout).toMatch(/\n {2}state +failed\n[\s\S]* {2}reason +declined\n[\s\S]* {2}code +B0005\n/);
  });

  it('it is safe to try again if nothing was sent', async () => {
    const env = {
      ...shop.env,
      PAYMENT_BASE_URL: 'http://127.0.0.1:9',
      PAYMENT_FORMER_BASE_URLS: shop.env['PAYMENT_BASE_URL']!,
    };
    const { status, stdout, stderr } = await shop.said(['refund', id, '--refund-id', 'UNSENT', '--yes'], env);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`Sending the refund UNSENT of payment ${id}: 149.90 TRY\n`);
    expect(stderr).toContain('Nothing was given back; it is safe to try again.');
  });

  it('a refund is found by its id after the process was killed while the gateway was asked', async () => {
    const slow = await shop.paid();
    const stall = shop.simulator.fail({ operation: 'refund', at: 'before', kind: 'stall' });
    const args = [builtMain(), 'payments', 'refund', slow, '--amount', '5', '--yes'];
    const child = spawn(process.execPath, args, { cwd, env: shop.env });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await stall.played;
    child.kill('SIGKILL');
    await once(child, 'exit');
    const [, refundId = ''] = /^Sending the refund (\w+) of payment/.exec(stderr) ?? [];
    expect(await listed(slow)).toMatchObject({
      refunds: [{ refundId, state: 'refunding' }],
      totals: { open: '5.00', refundable: '144.90' },
    });
    const again = await shop.said(['refund', slow, '--refund-id', refundId, '--yes']);
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('It is still under way.')]);
  });

  it('a refund goes on, and is stored, if nobody reads what is printed', async () => {
    const deaf = await shop.paid();
    const child = spawn(process.execPath, [builtMain(), 'payments', 'refund', deaf, '--yes'], { cwd, env: shop.env });
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await listed(deaf)).toMatchObject({ refunds: [{ state: 'succeeded' }] });
  });
});

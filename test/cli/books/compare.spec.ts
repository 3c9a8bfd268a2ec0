import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { until } from '../../services/until.js';
import { cli, cliHere } from '../cli.js';
import { documentedShape, shapeOf, withEmptyLists } from '../documented.js';
import { scratch } from '../scratch.js';
import { AnsweringGateway, type AnswerAbout, approved } from './answering-gateway.js';
import { Books, noon } from './books.js';

interface Entry {
  readonly conversationId: string;
  readonly refundId: string | null;
  readonly difference: string | null;
  readonly state: string;
  readonly gateway: { readonly word: string; readonly code: string | null; readonly amount: string | null } | null;
}

interface Answer {
  readonly status: number;
  readonly stdout: string;
  readonly finished: boolean;
  readonly stoppedBy: string | null;
  readonly totals: Readonly<Record<string, number>>;
  readonly differing: readonly Entry[];
  readonly unclear: readonly Entry[];
  readonly unanswered: readonly Entry[];
}

const NOVEMBER = ['--from', '2026-11-01', '--to', '2026-11-30'];
const FAST = ['--per-minute', '6000', '--at-once', '4'];
const DECLINED = { responseCode: 'B0051', responseDescription: 'Insufficient funds' };
const A_CARD = '4508034508034509';

describe('payments compare', () => {
  let place: ReturnType<typeof scratch>;
  let gateway: AnsweringGateway;
  let books: Books;
  let env: Record<string, string>;

  beforeEach(async () => {
    place = scratch();
    gateway = await AnsweringGateway.start();
    const storeUrl = `sqlite:${place.file('payments.sqlite')}`;
    books = await Books.open(storeUrl);
    env = {
      PAYMENT_STORE_URL: storeUrl,
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: gateway.url,
      PAYMENT_MERCHANT_ID: 'M-1',
      PAYMENT_CLIENT_ID: 'C-1',
      PAYMENT_CLIENT_SECRET: 'c2VjcmV0',
      PAYMENT_API_KEY: 'K-1',
      PAYMENT_TIMEOUT_MS: '1500',
    };
  });
  afterEach(async () => {
    // Whatever is compared, nothing but an inquiry is ever sent.
    expect(gateway.others).toEqual([]);
    await books.store.close();
    await gateway.stop();
    place.remove();
  });

  const words = (...more: string[]): string[] => ['payments', 'compare', ...NOVEMBER, ...FAST, ...more];
  const said = (...more: string[]) => cliHere(words(...more), { cwd: place.folder, env });
  async function compared(...more: string[]): Promise<Answer> {
    const { status, stdout, stderr } = await said('--json', ...more);
    expect(stderr).toBe('');
    const answer = JSON.parse(stdout) as Answer;
    expect(shapeOf(answer)).toEqual(withEmptyLists(documentedShape('payments compare'), answer));
    return { ...answer, status, stdout };
  }

  it('agrees where both say the same, changes nothing, and asks a few at a time', async () => {
    for (let number = 1; number <= 12; number += 1) {
      const sale = await books.sale(`P${number}`, { finalizedAt: noon(number) });
      gateway.answers.set(sale.conversationId, approved(60));
    }
    await books.sale('F1', { state: 'failed', reason: 'declined' });
    gateway.answers.set('F1', DECLINED);
    await books.sale('E1', { state: 'expired', kind: '3d' });
    await books.sale('OCTOBER', { finalizedAt: new Date('2026-10-31T20:59:59.999Z') });
    await books.sale('DECEMBER', { finalizedAt: new Date('2026-11-30T21:00:00.000Z') });
    const before = await stored();

    const { status, totals, finished } = await compared('--at-once', '3');
    expect({ status, finished }).toEqual({ status: 0, finished: true });
    expect(totals).toMatchObject({ asked: 14, agreed: 14, differing: 0, unclear: 0, unanswered: 0, amountNotShown: 0 });
    expect(new Set(gateway.asked).size).toBe(14);
    expect(gateway.asked).not.toContain('OCTOBER');
    expect(gateway.asked).not.toContain('DECEMBER');
    expect(gateway.mostAtOnce).toBeLessThanOrEqual(3);
    expect(await stored()).toEqual(before);

    async function stored(): Promise<unknown> {
      const ids = ['P1', 'P12', 'F1', 'E1'];
      const histories = ids.map((id) => books.store.history('default', id));
      const records = ids.map((id) => books.store.find('default', id));
      return [await Promise.all(records), await Promise.all(histories), await books.store.counts('default')];
    }
  });

  it.each<[string, Partial<PaymentRecord>, AnswerAbout, string]>([
    ['failed here, approved there', { state: 'failed' }, approved(60), 'moved_there'],
    ['expired here, approved there', { state: 'expired', kind: '3d' }, approved(60), 'moved_there'],
    ['failed here, approved there for another amount', { state: 'failed' }, approved(61), 'moved_there'],
    ['succeeded here, declined there', {}, DECLINED, 'not_moved_there'],
    ['succeeded here, a failed status there', {}, approved(60, { transactionStatus: 'FAILED' }), 'not_moved_there'],
    ['succeeded here, not paid so far there', {}, approved(60, { transactionStatus: 'PENDING' }), 'other_status'],
    ['succeeded here, not found there', {}, { responseCode: 'B0025' }, 'not_found_there'],
    ['less there', {}, approved(59.99), 'amount'],
    ['more there', {}, approved(600), 'amount'],
    [
      'more there than was charged, in instalments',
      { installmentCount: 3, chargedAmount: '66.00' },
      approved(66.01),
      'amount',
    ],
    ['another currency there', {}, approved(60, { paymentInfo: { amount: 60, currency: '840' } }), 'currency'],
    ['succeeded here, refunded there', {}, approved(60, { transactionType: 'REFUND' }), 'reversed_there'],
    ['succeeded here, voided there', {}, approved(60, { transactionType: 'VOID' }), 'reversed_there'],
    [
      'succeeded here, a status there that is not success',
      {},
      approved(60, { transactionStatus: 'REFUNDED' }),
      'other_status',
    ],
  ])('lists a payment that is %s, and ends with 1', async (_name, more, answer, difference) => {
    await books.sale('P1', more);
    gateway.answers.set('P1', answer);
    const { status, differing, totals } = await compared();
    expect(differing).toMatchObject([{ conversationId: 'P1', difference, state: more.state ?? 'succeeded' }]);
    expect(totals).toMatchObject({ asked: 1, agreed: 0, differing: 1 });
    expect(status).toBe(1);
  });

  it.each<[string, Partial<PaymentRecord>, AnswerAbout]>([
    ['the same amount in another form', { amount: '60.00' }, approved(60)],
    ['what was charged, in instalments', { installmentCount: 3, chargedAmount: '66.00' }, approved(66)],
    ['declined at the gateway’s own page', { kind: 'hosted', state: 'expired' }, DECLINED],
    ['not found', { state: 'failed' }, { responseCode: 'B0029' }],
    ['a failed status', { state: 'failed' }, approved(60, { transactionStatus: 'FAILED' })],
  ])('agrees on %s', async (_name, more, answer) => {
    await books.sale('P1', more);
    gateway.answers.set('P1', answer);
    expect(await compared()).toMatchObject({ status: 0, totals: { agreed: 1, asked: 1 } });
  });

  const html = (status: number) => (response: { writeHead(n: number): { end(text: string): void } }) =>
    response.writeHead(status).end('<html>we are out of order</html>');

  it.each<[string, Partial<PaymentRecord>, AnswerAbout, 'unclear' | 'unanswered']>([
    ['no answer', {}, 'hang', 'unanswered'],
    ['a connection that breaks', {}, 'close', 'unanswered'],
    ['HTTP 500', {}, html(500), 'unanswered'],
    ['HTTP 401', {}, html(401), 'unanswered'],
    ['a page of HTML', {}, html(200), 'unclear'],
    ['an empty object', {}, {}, 'unclear'],
    ['a bare code', {}, { responseCode: 'B0000' }, 'unclear'],
    ['a code that says nothing', {}, { responseCode: 'B0096', responseDescription: 'System malfunction' }, 'unclear'],
    ['a refusal of the inquiry', { state: 'failed' }, { responseCode: 'RVV0000999999' }, 'unclear'],
    [
      'what may still be paid there',
      { state: 'expired', kind: 'hosted' },
      approved(60, { transactionStatus: 'PENDING' }),
      'unclear',
    ],
    ['a code nobody knows', { state: 'failed' }, { responseCode: 'X1' }, 'unclear'],
    ['an answer about another payment', {}, approved(60, { conversationId: 'P2' }), 'unclear'],
    ['a list', {}, [approved(60)], 'unclear'],
  ])('does not count %s as agreed, and ends with 3', async (_name, more, answer, result) => {
    await books.sale('P1', more);
    gateway.answers.set('P1', answer);
    const answered = await compared();
    expect(answered).toMatchObject({ status: 3, totals: { asked: 1, agreed: 0, differing: 0, [result]: 1 } });
    expect(answered[result]).toMatchObject([{ conversationId: 'P1' }]);
  });

  it('compares refunds and voids by their own ids and amounts, and explains by them what became of a sale', async () => {
    const paid = (id: string, day: number) => books.sale(id, { finalizedAt: noon(day) });
    const [one, two, three] = [await paid('P1', 1), await paid('P2', 2), await paid('P3', 3)];
    await books.refund(one, 'R1');
    await books.refund(two, 'R2');
    await books.refund(three, 'V3', { kind: 'void', amount: '60.00' });
    await books.refund(one, 'R4', { state: 'failed', reason: 'declined' });
    await books.refund(one, 'R5', { reason: 'recorded' });
    const back = (amount: number, transactionType = 'REFUND') =>
      approved(amount, { responseCode: '00', transactionType });
    gateway.answers
      .set('P1', approved(60))
      .set('P2', approved(60, { transactionType: 'REFUND' }))
      .set('P3', approved(60, { transactionType: 'VOID' }))
      .set('R1', back(10))
      .set('R2', back(12))
      .set('V3', back(60, 'VOID'))
      .set('R4', back(10));
    const { status, differing, totals } = await compared();
    expect([...differing].sort((one, other) => (one.refundId! < other.refundId! ? -1 : 1))).toMatchObject([
      { conversationId: 'P2', refundId: 'R2', kind: 'refund', difference: 'amount', gateway: { amount: '12' } },
      { conversationId: 'P1', refundId: 'R4', difference: 'moved_there' },
    ]);
    expect(totals).toMatchObject({ asked: 7, agreed: 5, differing: 2, notAsked: 1 });
    expect(gateway.asked).not.toContain('R5');
    expect(status).toBe(1);
    expect((await compared('--only', 'sales')).totals).toMatchObject({ asked: 3, agreed: 3 });
    expect((await compared('--state', 'failed')).totals).toMatchObject({ asked: 1, differing: 1 });
  });

  it('does not report what changes while it is compared', async () => {
    const late = await books.sale('P1', { state: 'failed' });
    const sale = await books.sale('P2', { finalizedAt: noon(11) });
    gateway.answers.set('P1', approved(60)).set('P2', approved(60, { transactionType: 'VOID' }));
    gateway.onAsked = async (id) => {
      if (id === 'P1') {
        const review = { ...late, state: 'review', finalizedAt: null, version: late.version + 1 } as const;
        expect(await books.store.replace(review, late.version)).toBe('replaced');
      } else await books.refund(sale, 'V2', { kind: 'void', amount: '60.00', finalizedAt: noon(12) });
    };
    const { totals, differing, status } = await compared('--only', 'sales');
    expect(differing).toEqual([]);
    expect(totals).toMatchObject({ agreed: 1, changed: 1, asked: 1 });
    expect(status).toBe(0);
  });

  it('says in a line for each what differs, for people, and shows no card whatever is answered', async () => {
    await books.sale('P1', { state: 'failed', reason: 'declined' });
    gateway.answers.set('P1', approved(60, { orderId: A_CARD, instrumentDetail: { maskedCardNumber: A_CARD } }));
    await books.sale('P2', { finalizedAt: noon(11) });
    gateway.answers.set('P2', {
      responseCode: A_CARD,
      responseDescription: A_CARD,
      amount: Number(A_CARD),
      cvv: '000',
    });
    const { status, stdout, stderr } = await said();
    expect(stdout).toContain(
      '  P1  sale    failed here, 60.00 TRY; approved there (60 TRY, B0000)  DIFFERS: moved_there  reference order-P1\n',
    );
    expect(stdout).toContain('Asked about 2: 0 agreed, 1 differing, 1 without a clear answer, 0 not answered');
    expect(stdout + stderr + (await compared()).stdout).not.toContain(A_CARD.slice(6, 12));
    expect(status).toBe(1);
  });

  it('stops at its deadline though the gateway hangs, and goes on where it stopped', async () => {
    for (let number = 1; number <= 9; number += 1) {
      await books.sale(`P${number}`, { finalizedAt: noon(number) });
      gateway.answers.set(`P${number}`, approved(60));
    }
    gateway.answers.set('P2', approved(1)).set('P5', 'hang').set('P6', 'hang');
    const file = place.file('progress.json');
    const more = ['--progress', file, '--deadline', '1', '--at-once', '2'];
    const began = performance.now();
    const first = await compared(...more);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(first).toMatchObject({ status: 1, finished: false, stoppedBy: 'deadline' });
    expect(first.totals).toMatchObject({ agreed: 3, differing: 1, unanswered: 2 });
    const progress = readFileSync(file, 'utf8');
    expect(progress).not.toMatch(/\*|450803|order-/);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    gateway.asked.length = 0;
    gateway.answers.set('P5', approved(60)).set('P6', approved(60));
    const second = await compared(...more);
    expect(second).toMatchObject({ status: 1, finished: true, stoppedBy: null });
    expect(second.totals).toMatchObject({ asked: 9, agreed: 8, differing: 1, unanswered: 0 });
    expect([...gateway.asked].sort()).toEqual(['P2', 'P5', 'P6', 'P7', 'P8', 'P9']);
    expect(second.differing).toMatchObject([{ conversationId: 'P2', difference: 'amount' }]);

    gateway.asked.length = 0;
    gateway.answers.set('P2', approved(60));
    expect(await compared(...more)).toMatchObject({ status: 0, totals: { asked: 9, agreed: 9 } });
    expect(gateway.asked).toEqual(['P2']);
    expect(await compared(...more, '--only', 'sales')).toMatchObject({ status: 0, totals: { asked: 9, agreed: 9 } });
    expect(gateway.asked).toHaveLength(10);
  });

  it('does not forget a difference because the payment was deleted since', async () => {
    await books.sale('P1');
    gateway.answers.set('P1', DECLINED);
    const more = ['--progress', place.file('progress.json')];
    expect(await compared(...more)).toMatchObject({ status: 1, totals: { differing: 1 } });
    await books.store.purge('default', { paymentsMs: 0, pairsMs: 0, keysMs: 0 });
    expect(await books.store.find('default', 'P1')).toBeNull();
    expect(await compared(...more)).toMatchObject({ status: 1, totals: { asked: 1, differing: 1 } });
  });

  it('leaves a gateway alone that does not answer at all', async () => {
    gateway.otherwise = 'close';
    for (let number = 1; number <= 30; number += 1) await books.sale(`P${number}`, { finalizedAt: noon(1, number) });
    const { status, stoppedBy, totals } = await compared();
    expect({ status, stoppedBy }).toEqual({ status: 3, stoppedBy: 'gateway' });
    expect(gateway.asked.length).toBeLessThanOrEqual(10 + 4);
    // Those that were to be asked next have no answer either.
    expect(totals.unanswered).toBeGreaterThanOrEqual(gateway.asked.length);
    expect(totals.unanswered).toBeLessThanOrEqual(10 + 4);
  });

  it('stops in time when it is told to, as a process, and begins no more inquiries than it may', async () => {
    for (let number = 1; number <= 20; number += 1) {
      await books.sale(`P${number}`, { finalizedAt: noon(number) });
      gateway.answers.set(`P${number}`, number < 4 ? approved(60) : 'hang');
    }
    const file = place.file('progress.json');
    const args = [
      join(process.cwd(), 'dist/esm/cli/main.js'),
      ...words('--progress', file, '--json', '--at-once', '2'),
    ];
    const process_ = spawn(process.execPath, args, { cwd: place.folder, env: { ...env, PATH: process.env['PATH'] } });
    let stdout = '';
    process_.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    await until(() => Promise.resolve(gateway.asked.length >= 5), 20_000);
    process_.kill('SIGTERM');
    const began = performance.now();
    const [status] = (await once(process_, 'close')) as [number];
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(status).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'signal', totals: { agreed: 3, unanswered: 2 } });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ progress: { agreed: 3, isThrough: false } });
  });

  it('begins no more inquiries in a minute than it may', async () => {
    gateway.otherwise = approved(60);
    for (let number = 1; number <= 6; number += 1) await books.sale(`P${number}`, { finalizedAt: noon(number) });
    const began = performance.now();
    await compared('--per-minute', '300', '--at-once', '8');
    // Five waits of a fifth of a second.
    expect(performance.now() - began).toBeGreaterThan(990);
  });

  it.each<[readonly string[], string]>([
    [['--from', '2026-11-30', '--to', '2026-11-01'], 'give the earlier one to --from'],
    [['--from', '2026-02-30'], '--from: there is no day 2026-02-30.'],
    [['--to', '30.11.2026'], '--to takes a day such as 2026-11-01, or a moment with its offset'],
    [['--from', '2026-11-01T00:00:00'], '--from takes a day'],
    [['--zone', 'Turkey/Ankara'], 'there is no time zone "Turkey/Ankara"; it takes a name such as Europe/Istanbul'],
    [['--only', 'payments'], '--only takes sales or refunds.'],
    [['--state', 'unknown'], '--state: there is no state "unknown"; there are succeeded, failed, expired'],
    [['--deadline', '0'], '--deadline takes a whole number from 1 to 86400.'],
    [['--at-once', '9'], '--at-once takes a whole number from 1 to 8.'],
    [['--progress', ''], '--progress takes the path of a file.'],
    [['--progress', '.'], '. cannot be read'],
  ])('refuses %j, says what to write, and asks nothing', async (more, text) => {
    const { status, stdout, stderr } = await said(...more);
    expect(stderr).toContain(text);
    expect({ status: [1, 2].includes(status), stdout }).toEqual({ status: true, stdout: '' });
    expect(gateway.asked).toEqual([]);
  });

  it('refuses a progress file that is something else, and a dialect that cannot ask', async () => {
    const file = place.file('notes.txt');
    writeFileSync(file, '{"format":"something else"}');
    expect((await said('--progress', file)).stderr).toContain('was not written by this command');
    expect(readFileSync(file, 'utf8')).toBe('{"format":"something else"}');
    const { status, stderr } = await cliHere(words(), {
      cwd: place.folder,
      env: { ...env, PAYMENT_DIALECT: 'standard' },
    });
    expect(status).toBe(2);
    expect(stderr).toContain('cannot ask what became of a payment');
    expect((await cli(['payments', 'compare'], { cwd: place.folder, env })).stderr).toContain('--from is missing');
  });
});

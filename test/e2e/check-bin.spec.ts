import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import {
  CardBin,
  type GatewayDialect,
  morposDialect,
  type PaymentClock,
  type PaymentOptions,
  PaymentOverloadError,
  type PaymentService,
  PaymentValidationError,
} from 'nestjs-card-payment';
import { type Simulator, type SimulatorOptions, startSimulator } from 'nestjs-card-payment/simulator';
import { loggerInto } from '../operations/log-lines.js';
import { answeringGateway, type Asked } from '../rigs/answering-gateway.js';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { sale } from '../rigs/sale.js';
import { startShop } from '../rigs/shop.js';
import { accountAtUrl } from '../rigs/simulated-gateway.js';
import { until } from '../services/until.js';
import { simulatorOptions } from './merchant.js';

const NOTHING = { bank: null, type: null, brand: null, commercial: null, installments: null };
const TRY_100 = { amount: '100.00', currencyCode: 949 };
const CREDIT = '45080345';

type Answer = (response: ServerResponse, body: Asked['body']) => unknown;

const json =
  (content: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
const TOLD = {
  ResponseCode: 'B0000',
  BankName: 'A',
  CardType: 'Credit',
  InstallmentList: [{ InstallmentCount: 3, InstallmentTotalAmount: 10.5 }],
};
const told = json(TOLD);

interface Setup {
  readonly options?: PaymentOptions;
  readonly clock?: PaymentClock;
}

// That spans, metrics and what is printed of the service show no digits is in test/leaks/leaks.spec.ts.
describe('check bin', () => {
  const log: string[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  let asked: Asked[];
  beforeEach(() => {
    asked = [];
    log.length = 0;
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function open(options: PaymentOptions, clock?: PaymentClock): Promise<PaymentService> {
    const { app, payments } = await startShop({ options, clock, logger: loggerInto(log) });
    closing.push(() => app.close());
    return payments;
  }

  /** A shop at the simulator. */
  async function simulated(
    gateway: SimulatorOptions = {},
  ): Promise<{ payments: PaymentService; simulator: Simulator }> {
    const simulator = await startSimulator({ dialect: 'morpos', ...gateway });
    closing.push(() => simulator.close());
    return { simulator, payments: await open(simulatorOptions(simulator)) };
  }

  /** A shop at a gateway that answers each question so. */
  async function shop(answer: Answer, { options, clock }: Setup = {}): Promise<PaymentService> {
    const gateway = await answeringGateway((one, response) => {
      asked.push(one);
      answer(response, one.body);
    });
    closing.push(() => gateway.close());
    return open({ ...accountAtUrl(gateway.url), background: false, ...options }, clock);
  }

  it('a test card is told, and what is told is what is charged', async () => {
    const { payments, simulator } = await simulated({ installmentRates: { 3: '2.5', 6: '5.125' } });
    const card = await payments.checkBin(CREDIT, { amount: '1149.90', currencyCode: 949 });
    expect(card).toBeInstanceOf(CardBin);
    const totals = { 1: '1149.90', 2: '1149.90', 3: '1178.65', 6: '1208.83', 9: '1149.90', 12: '1149.90' };
    expect(card).toEqual({
      bin: CREDIT,
      bank: 'Örnek Bankası',
      type: 'credit',
      brand: 'VISA',
      commercial: false,
      installments: Object.entries(totals).map(([count, total]) => ({ count: Number(count), total })),
      code: 'B0000',
      message: 'Approved',
    });
    expect(await payments.checkBin('526973')).toMatchObject({ type: 'debit', installments: [] });
    expect(await payments.checkBin('5413330')).toMatchObject({ type: 'prepaid' });
    expect(await payments.checkBin('469181')).toMatchObject({ commercial: true });
    const unknown = { bin: '402940', ...NOTHING, code: 'B0000', message: 'Approved' };
    expect(await payments.checkBin('402940')).toEqual(unknown);
    expect(simulator.ledger.charges).toEqual([]);

    const { installments } = await payments.checkBin(CREDIT, TRY_100);
    const { total } = installments!.find(({ count }) => count === 3)!;
    const payment = await payments.doPayment(sale('', { transactionDetails: { ...TRY_100, installmentCount: 3 } }));
    expect(payment).toMatchObject({ state: 'succeeded', amount: '100.00', installmentCount: 3, chargedAmount: total });
    expect(simulator.ledger.charges.map(({ amount }) => amount)).toEqual(['102.50']);
    expect(await payments.refundTotals(payment.conversationId)).toMatchObject({ refundable: '102.50' });
  });

  it('the dialect "standard" has no such operation: the checkout goes on', async () => {
    const { payments, simulator } = await simulated({ dialect: 'standard' });
    expect(await payments.checkBin(CREDIT)).toMatchObject({ ...NOTHING, code: 'unsupported' });
    expect(simulator.requests).toEqual([]);
  });

  it.each<[unknown, unknown, string]>([
    ...['45080', '450803450', '4508034508034509', '４５０８０３', '450803\n', 450803, null].map(
      (bin): [unknown, unknown, string] => [bin, undefined, 'bin'],
    ),
    ['450803', { amount: '0', currencyCode: 949 }, 'amount'],
    ['450803', { amount: '10', currencyCode: 'TRY' }, 'currencyCode'],
    ['450803', { ...TRY_100, reference: 'x' }, 'reference'],
  ])('%j of the sale %j is refused, never sent and never shown', async (bin, asks, path) => {
    const payments = await shop(told);
    const error = await payments.checkBin(bin as string, asks as typeof TRY_100).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentValidationError);
    expect((error as PaymentValidationError).issues.map((issue) => issue.path)).toContain(path);
    const shown = `${inspect(error, { depth: null, showHidden: true })} ${JSON.stringify(error)} ${log.join()}`;
    expect(shown).not.toMatch(/45080/);
    expect(asked).toEqual([]);
  });

  const { operations, ...dialect } = morposDialect();
  const signing = (sign: GatewayDialect['sign']): PaymentOptions => ({
    dialect: { ...dialect, operations, sign },
  });
  const inTime = { binTimeoutMs: 200 };

  // What else an answer may be, or a dialect may give, and whether it counts as one, is in test/gateway/readings.
  it.each<[string, Answer, PaymentOptions, known: object, keptMs: number]>([
    ['an answer', told, {}, { bank: 'A', type: 'credit', installments: [{ count: 3, total: '10.5' }] }, 60_000],
    ['an error of the gateway, with a code', json({ Code: 'RVV1' }, 500), {}, { code: 'RVV1' }, 2_000],
    ['a broken connection', (response) => response.destroy(), {}, { code: 'no_answer' }, 2_000],
    ['silence', () => undefined, inTime, { code: 'no_answer' }, 0],
    [
      'an echo of all that was sent',
      (response, body) => json({ ...body, code: 'X', message: Object.values(body).join(' ') })(response, body),
      {},
      { code: 'X' },
      60_000,
    ],
    ['a gateway that cannot be reached', told, { baseUrl: 'http://127.0.0.1:1' }, { code: 'not_sent' }, 0],
    ['a signer that throws', told, signing(thrower), { code: 'not_sent' }, 0],
  ])('%s is told, or that nothing is known, soon and for so long', async (_name, answer, options, known, keptMs) => {
    const clock = new SettableClock();
    const payments = await shop(answer, { clock, options });
    const began = performance.now();
    const { bin, ...card } = await payments.checkBin(CREDIT);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect({ bin, ...card }).toMatchObject({ bin: CREDIT, ...NOTHING, ...known });
    expect(JSON.stringify(card) + log.join()).not.toContain(CREDIT);
    expect(log.join().includes('cannot be reached')).toBe(options.baseUrl !== undefined);
    if (keptMs === 0) return;
    for (const [ms, times] of [
      [keptMs - 1_000, 1],
      [1_000, 2],
    ] as const) {
      clock.aheadMs += ms;
      await payments.checkBin(CREDIT);
      expect(asked).toHaveLength(times);
    }
  });

  it('each caller gets an object of its own, and another sale is asked about again', async () => {
    const payments = await shop(told);
    const [first, second] = await Promise.all([payments.checkBin(CREDIT), payments.checkBin(CREDIT)]);
    (first as { bank: string }).bank = 'changed';
    (second.installments![0] as { total: string }).total = '0.01';
    expect(await payments.checkBin(CREDIT)).toMatchObject({ bank: 'A', installments: [{ count: 3, total: '10.5' }] });
    expect(asked).toHaveLength(1);
    await payments.checkBin(CREDIT, TRY_100);
    await payments.checkBin(CREDIT, { ...TRY_100, amount: 100 });
    await payments.checkBin(CREDIT.slice(0, 6));
    expect(asked).toHaveLength(3);
  });

  it('what was not sent is asked about again at once', async () => {
    let isFirst = true;
    const sign: GatewayDialect['sign'] = (...given) => (isFirst ? thrower((isFirst = false)) : dialect.sign(...given));
    const payments = await shop(told, { options: signing(sign) });
    expect(await payments.checkBin(CREDIT)).toMatchObject({ code: 'not_sent' });
    expect(await payments.checkBin(CREDIT)).toMatchObject({ bank: 'A' });
  });

  it('more than maxBinChecks at once are refused; payments are not, and there is room again', async () => {
    const waiting: ServerResponse[] = [];
    const payments = await shop((response) => waiting.push(response), {
      options: { maxBinChecks: 2, binTimeoutMs: 5_000 },
    });
    const running = [payments.checkBin('450801'), payments.checkBin('450802'), payments.checkBin('450801')];
    const error: unknown = await payments.checkBin('450803').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentOverloadError);
    expect((error as Error).message).toContain('2 are running already (maxBinChecks)');
    await until(() => waiting.length === 2);
    for (const response of waiting) told(response, {});
    await Promise.all(running);
    const later = payments.checkBin('450803');
    await until(() => waiting.length === 3);
    told(waiting[2]!, {});
    expect(await later).toMatchObject({ bank: 'A' });
    expect(log.join()).toMatch(
      /checkBin was refused, since 2 are being asked about \(maxBinChecks, PAYMENT_MAX_BIN_CHECKS\)/,
    );
  });
});

function thrower(given: unknown): never {
  throw new Error(`cannot sign ${JSON.stringify(given)}`);
}

/** Its timers and limits are those of the system. */
class SettableClock extends ClockSetAhead {
  override monotonic(): number {
    return super.monotonic() + this.aheadMs;
  }
}

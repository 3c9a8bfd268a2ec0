import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import { CardBin, morposDialect, PaymentOverloadError, PaymentValidationError } from 'nestjs-card-payment';
import { type Simulator, type SimulatorOptions, startSimulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { loggerInto } from '../operations/log-lines.js';
import { until } from '../services/until.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { type Merchant, type MerchantSetup, sale, startMerchant, useMerchant } from './merchant.js';

const NOTHING = { bank: null, type: null, brand: null, commercial: null, installments: null };
const TRY_100 = { amount: '100.00', currencyCode: 949 };
const CREDIT = '45080345';

const log: string[] = [];
let close: (() => Promise<unknown>)[] = [];

describe('check bin', () => {
  beforeEach(() => {
    log.length = 0;
  });
  afterEach(async () => {
    Logger.overrideLogger(false);
    for (const end of close.reverse()) await end();
    close = [];
  });

  describe('at the simulator', () => {
    async function shop(options: SimulatorOptions = {}, setup: MerchantSetup = {}) {
      const simulator = await startSimulator({ dialect: 'morpos', ...options });
      close.push(() => simulator.close());
      const { payments } = await open(simulator, setup);
      return { simulator, payments };
    }

    it('a test card is told', async () => {
      const { payments, simulator } = await shop({ installmentRates: { 3: '2.5', 6: '5.125' } });
      const card = await payments.checkBin(CREDIT, { amount: '1149.90', currencyCode: 949 });
      expect(card).toBeInstanceOf(CardBin);
      const row = (count: number, total: string) => ({ count, total });
      expect(card).toEqual({
        bin: CREDIT,
        bank: 'Örnek Bankası',
        type: 'credit',
        brand: 'VISA',
        commercial: false,
        installments: [
          row(1, '1149.90'),
          row(2, '1149.90'),
          row(3, '1178.65'),
          row(6, '1208.83'),
          row(9, '1149.90'),
          row(12, '1149.90'),
        ],
        code: 'B0000',
        message: 'Approved',
      });
      expect(await payments.checkBin('526973')).toMatchObject({ type: 'debit', installments: [] });
      expect(await payments.checkBin('5413330')).toMatchObject({ type: 'prepaid' });
      expect(await payments.checkBin('469181')).toMatchObject({ commercial: true });
      expect(simulator.ledger.charges).toEqual([]);
    });

    it('no amount is sent unless it is given, and no more of the card than was asked about', async () => {
      const { payments, simulator } = await shop();
      await payments.checkBin('450803');
      const fields = ['bin', 'conversationId', 'language', 'merchantId', 'sign'];
      expect(simulator.requests.map(({ body }) => Object.keys(body as object).sort())).toEqual([fields]);
    });

    it('a card that nothing is told of', async () => {
      const { payments } = await shop();
      expect(await payments.checkBin('402940')).toEqual({
        bin: '402940',
        ...NOTHING,
        code: 'B0000',
        message: 'Approved',
      });
    });

    it('what is told is what is charged', async () => {
      const { payments, simulator } = await shop({ installmentRates: { 3: '2.5' } });
      const { installments } = await payments.checkBin(CREDIT, TRY_100);
      const { total } = installments!.find(({ count }) => count === 3)!;
      const card = { cardNo: '4508034508034509', expDate: '1236', cvv: '000' };
      const payment = await payments.doPayment({
        ...sale('100.00', { transactionDetails: { ...TRY_100, installmentCount: 3 } }),
        cardDetails: card,
      });
      expect(payment).toMatchObject({
        state: 'succeeded',
        amount: '100.00',
        installmentCount: 3,
        chargedAmount: total,
      });
      expect(total).toBe('102.50');
      expect(simulator.ledger.charges.map(({ amount }) => amount)).toEqual(['102.50']);
      expect(await payments.refundTotals(payment.conversationId)).toMatchObject({ refundable: '102.50' });
    });

    it.each(['reset', 'close', 'half-reply'] as const)('a connection that ends (%s) is silence', async (kind) => {
      const { payments, simulator } = await shop();
      simulator.fail({ operation: 'CheckBin', kind });
      expect(await payments.checkBin(CREDIT)).toMatchObject({ ...NOTHING, code: 'no_answer' });
    });

    it('the dialect "standard" has no such operation: the checkout goes on', async () => {
      const simulator = await startSimulator();
      close.push(() => simulator.close());
      const { payments } = await open(simulator);
      expect(await payments.checkBin(CREDIT)).toMatchObject({ ...NOTHING, code: 'unsupported' });
      expect(simulator.requests).toEqual([]);
    });
  });

  describe('the input', () => {
    const merchant = useMerchant();
    beforeEach(() => {
      Logger.overrideLogger(loggerInto(log));
    });

    async function refusal(...asked: Parameters<Merchant['payments']['checkBin']>): Promise<unknown> {
      const error: unknown = await merchant.payments.checkBin(...asked).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PaymentValidationError);
      expect(merchant.simulator.requests).toEqual([]);
      return error;
    }

    it.each([
      '45080',
      '450803450',
      '4508034508034509',
      '４５０８０３',
      '450803 4',
      ' 450803',
      '450803\n',
      '45O803',
      '',
      450803,
      null,
      undefined,
      ['450803'],
    ])('%j is refused, never sent and never shown', async (bin) => {
      const error = await refusal(bin as string);
      expect(error).toMatchObject({ issues: [{ path: 'bin', rule: 'bin' }] });
      const shown = `${inspect(error, { depth: null, showHidden: true })} ${JSON.stringify(error)} ${log.join()}`;
      expect(shown).not.toMatch(/\d{5}/);
    });

    it.each([
      [{ amount: '0', currencyCode: 949 }, 'amount'],
      [{ amount: '1.005', currencyCode: 949 }, 'amount'],
      [{ amount: '10', currencyCode: 'TRY' }, 'currencyCode'],
      [{ amount: '10' }, 'currencyCode'],
      [{ ...TRY_100, reference: 'x' }, 'reference'],
    ])('the sale %j is refused', async (asked, path) => {
      const error = (await refusal(CREDIT, asked as typeof TRY_100)) as PaymentValidationError;
      expect(error.issues.map((issue) => issue.path)).toContain(path);
    });
  });

  describe('at a gateway of another hand', () => {
    let asked: Record<string, unknown>[];
    let urls: string[];
    type Answer = (response: ServerResponse, body: Record<string, unknown>) => void;

    const json =
      (content: unknown, status = 200): Answer =>
      (response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    const told: Answer = json({
      ResponseCode: 'B0000',
      BankName: 'A',
      CardType: 'Credit',
      InstallmentList: [{ InstallmentCount: 3, InstallmentTotalAmount: 10.5 }],
    });

    async function shop(answer: Answer, setup: MerchantSetup = {}): Promise<Merchant> {
      asked = [];
      urls = [];
      const server: Server = createServer((request, response) => {
        void bodyOf(request).then((body) => {
          urls.push(request.url ?? '');
          asked.push(body);
          answer(response, body);
        });
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      close.push(
        () =>
          new Promise((closed) => {
            server.closeAllConnections();
            server.close(closed);
          }),
      );
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const simulator = {
        url: baseUrl,
        dialect: 'morpos',
        credentials: {
          merchantId: 'M-1',
          clientId: 'C-1',
          clientSecret: 'c2VjcmV0LXNlY3JldA==',
          apiKey: 'key-key-key',
        },
      } as Simulator;
      const options = { background: false, binTimeoutMs: 200, ...setup.options };
      return open(simulator, { ...setup, options });
    }

    it('the digits are in the body alone', async () => {
      const { payments } = await shop(told);
      expect(await payments.checkBin(CREDIT)).toMatchObject({
        bank: 'A',
        type: 'credit',
        installments: [{ count: 3, total: '10.5' }],
      });
      expect(urls).toEqual(['/v1/BinList/CheckBin']);
      expect(asked).toMatchObject([{ bin: CREDIT }]);
    });

    // What else an answer may be is in test/gateway/readings/expected/answers.txt.
    it.each<[string, Answer, object]>([
      [
        'a huge body',
        (response) => response.end(`{"bankName":"${'x'.repeat(3 * 1024 * 1024)}"}`),
        { code: 'unreadable' },
      ],
      ['silence', () => undefined, { code: 'no_answer' }],
      ['a body that never ends', (response) => void response.write('{"bankName":'), { code: 'no_answer' }],
      [
        'an echo of all that was sent',
        (response, body) =>
          response.end(JSON.stringify({ ...body, code: 'X', message: Object.values(body).join(' ') })),
        { code: 'X' },
      ],
    ])('%s is a card that nothing is known of, soon', async (_name, answer, outcome) => {
      const { payments } = await shop(answer);
      const began = performance.now();
      const { bin, ...card } = await payments.checkBin(CREDIT);
      expect(performance.now() - began).toBeLessThan(2_000);
      expect({ bin, ...card }).toMatchObject({
        bin: CREDIT,
        ...NOTHING,
        message: expect.any(String) as string,
        ...outcome,
      });
      expect(JSON.stringify(card)).not.toContain(CREDIT);
      expect(log.join()).not.toContain(CREDIT);
    });

    it('a gateway that cannot be reached was not asked, and is asked again', async () => {
      const { payments } = await shop(told, { options: { baseUrl: 'http://127.0.0.1:1' } });
      expect(await payments.checkBin(CREDIT)).toMatchObject({ ...NOTHING, code: 'not_sent' });
      expect(log.join()).toContain('cannot be reached');
      expect(log.join()).not.toContain(CREDIT);
    });

    it('a signer that hangs or throws does not hold up the checkout, nor show the digits', async () => {
      const { operations, ...dialect } = morposDialect();
      let sign = (_fields: unknown): Promise<string | null> => new Promise(() => undefined);
      const own = { ...dialect, operations, sign: (fields: unknown) => sign(fields) } as ReturnType<
        typeof morposDialect
      >;
      const { payments } = await shop(told, { options: { dialect: own } });
      expect(await payments.checkBin(CREDIT)).toMatchObject({ code: 'no_answer' });
      sign = (fields) => {
        throw new Error(`cannot sign ${JSON.stringify(fields)}`);
      };
      expect(await payments.checkBin('52467763')).toMatchObject({ code: 'not_sent' });
      expect(log.join()).toContain('cannot sign');
      expect(log.join()).not.toContain('52467763');
      expect(asked).toEqual([]);
    });

    it('a dialect of the host that throws, or returns anything, breaks nothing', async () => {
      const { operations, ...dialect } = morposDialect();
      const results = [
        () => {
          throw new Error('cannot read');
        },
        () => ({
          code: 'B0000',
          bank: 7,
          type: 'gold',
          brand: {},
          commercial: 'yes',
          installments: [null, 3, { count: 3, total: 7 }],
        }),
        () => null,
      ];
      const read = (): never => results.shift()!() as never;
      const own = { ...dialect, operations: { ...operations, checkBin: { ...operations.checkBin!, read } } };
      const { payments } = await shop(told, { options: { dialect: own } });
      expect(await payments.checkBin('450801')).toMatchObject({ ...NOTHING, code: 'unreadable' });
      expect(await payments.checkBin('450802')).toMatchObject({
        bank: null,
        type: null,
        brand: null,
        commercial: null,
      });
      expect(await payments.checkBin('450804')).toMatchObject({ ...NOTHING, code: 'unreadable' });
    });

    describe('the same digits', () => {
      it('are asked about once a minute, and each caller gets an object of its own', async () => {
        const clock = new TestClock();
        const { payments } = await shop(told, { clock });
        const [first, second] = await Promise.all([payments.checkBin(CREDIT), payments.checkBin(CREDIT)]);
        (first as { bank: string }).bank = 'changed';
        (first.installments as unknown[]).pop();
        (second.installments![0] as { total: string }).total = '0.01';
        expect(await payments.checkBin(CREDIT)).toMatchObject({
          bank: 'A',
          installments: [{ count: 3, total: '10.5' }],
        });
        await clock.advance(59_000);
        await payments.checkBin(CREDIT);
        expect(asked).toHaveLength(1);
        await clock.advance(1_000);
        await payments.checkBin(CREDIT);
        expect(asked).toHaveLength(2);
      });

      it.each<[string, Answer, keptMs: number]>([
        ['a refusal with a code', json({ responseCode: 'B0014' }), 60_000],
        ['a refusal of the request with a code', json({ Code: 'RVV1' }, 400), 60_000],
        ['an error of the gateway, with a code', json({ Code: 'RVV1' }, 500), 2_000],
        ['HTML', (response) => response.end('<h1>Maintenance</h1>'), 2_000],
        ['a broken connection', (response) => response.destroy(), 2_000],
      ])('%s is kept for so long', async (_name, answer, keptMs) => {
        const clock = new TestClock();
        const { payments } = await shop(answer, { clock });
        await payments.checkBin(CREDIT);
        await clock.advance(keptMs - 1);
        await payments.checkBin(CREDIT);
        expect(asked).toHaveLength(1);
        await clock.advance(1);
        await payments.checkBin(CREDIT);
        expect(asked).toHaveLength(2);
      });

      it('are asked about again for another sale', async () => {
        const { payments } = await shop(json({}, 500));
        await payments.checkBin(CREDIT);
        expect(asked).toHaveLength(1);
        await payments.checkBin(CREDIT, TRY_100);
        await payments.checkBin(CREDIT, { ...TRY_100, amount: 100 });
        await payments.checkBin(CREDIT.slice(0, 6));
        expect(asked).toHaveLength(3);
      });
    });

    it('more than maxBinChecks at once are refused; payments are not, and there is room again', async () => {
      const waiting: ServerResponse[] = [];
      const { payments } = await shop((response) => void waiting.push(response), {
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

    it('spans, metrics and what is printed of the service show no digits', async () => {
      const recorder = new TelemetryRecorder().start();
      try {
        const { payments } = await shop(told);
        await payments.checkBin(CREDIT);
        await payments.checkBin('1234').catch(() => undefined);
        const { spans } = recorder;
        const points = await recorder.points();
        const names = spans.map(({ name }) => name);
        expect(names).toEqual(expect.arrayContaining(['card_payment.checkBin', 'POST /v1/BinList/CheckBin']));
        const seen = inspect([spans.map(({ attributes, events }) => [attributes, events]), points], { depth: 9 });
        expect(seen).toContain('checkBin');
        expect(seen).not.toContain(CREDIT.slice(0, 6));
        expect(inspect(payments, { depth: 20, showHidden: true })).not.toContain(CREDIT.slice(0, 6));
      } finally {
        recorder.stop();
      }
    });
  });
});

async function open(simulator: Simulator, setup: MerchantSetup = {}): Promise<Merchant> {
  const merchant = await startMerchant('fastify', simulator, setup);
  close.push(() => merchant.app.close());
  // Starting the application has set another one.
  Logger.overrideLogger(loggerInto(log));
  return merchant;
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

import {
  REFUSAL_CODES,
  startSimulator,
  type Simulator,
  type SimulatorDialect,
  type SimulatorOperation,
} from '../../lib/simulator/index.js';
import { type Asked, CARD, fieldsOf, newConversationId, SimulatedMerchant } from './simulated-merchant.js';

const SALES = ['DoPayment', 'Init3d'] as const;
const PAGES = ['hostedPage', 'embeddedForm'] as const;
const BACK = ['refund', 'void'] as const;
const WORDED = [...SALES, ...PAGES, ...BACK, 'CheckBin'] as const;
const ALL = [...WORDED, 'CheckPayment'] as const;
type Change = [operation: SimulatorOperation, change: Record<string, unknown>];
type Row = readonly [operations: readonly SimulatorOperation[], problem: string, change: Change[1]];

const details = (transactionDetails: object) => ({ transactionDetails });
const card = (cardDetails: object) => ({ cardDetails });

/** The fields that are refused, by how the answer names the problem. */
const WRONG_FIELDS: readonly Row[] = [
  [ALL, 'merchantId', { merchantId: '1' }],
  [ALL, 'merchantId', { merchantId: null }],
  [ALL, 'sign', { sign: '' }],
  [ALL, 'sign', { sign: null }],
  [ALL, 'reference is not a field', { reference: 'order-1' }],
  [ALL, 'toString is not a field', { toString: 'x' }],
  [ALL, 'conversationId', { conversationId: '' }],
  [WORDED, 'language', { language: 'TR' }],
  [WORDED, 'language', { language: null }],
  [[...SALES, ...PAGES], 'returnUrl', { returnUrl: 'ftp://shop.example' }],
  [[...SALES, ...PAGES], 'failUrl', { failUrl: '/fail' }],
  [[...SALES, ...PAGES], 'failUrl', { failUrl: null }],
  [[...SALES, 'embeddedForm'], 'paymentMethod', { paymentMethod: 'HOSTEDPAYMENT' }],
  [[...SALES, 'hostedPage'], 'paymentMethod', { paymentMethod: 'EMBEDDEDPAYMENT' }],
  [PAGES, 'paymentMethod', { paymentMethod: 'CARDPAYMENT' }],
  [[...SALES, ...PAGES], 'paymentInstrumentType', { paymentInstrumentType: 'CARDPAYMENT' }],
  [[...SALES, ...PAGES], 'paymentInstrumentType', { paymentInstrumentType: null }],
  [[...SALES, ...PAGES], 'transactionDetails must be an object', details(null!)],
  [[...SALES, ...PAGES], 'transactionDetails.transactionType', details({ transactionType: 'PREAUTH' })],
  [[...SALES, ...PAGES], 'transactionDetails.installmentCount', details({ installmentCount: '2' })],
  [SALES, 'transactionDetails.installmentCount', details({ installmentCount: 1.5 })],
  [PAGES, 'transactionDetails.installmentCount', details({ installmentCount: 1 })],
  [[...SALES, 'refund'], 'transactionDetails.amount', details({ amount: '60.00' })],
  [[...SALES, 'refund'], 'transactionDetails.amount', details({ amount: 0 })],
  [[...SALES, 'refund'], 'transactionDetails.amount', details({ amount: null })],
  [SALES, 'transactionDetails.amount', details({ amount: -1 })],
  [SALES, 'transactionDetails.amount', details({ amount: 1e21 })],
  [[...SALES, 'refund'], 'transactionDetails.amount has more decimals', details({ amount: 1.005 })],
  [SALES, 'transactionDetails.amount has more decimals', details({ amount: 1.5, currencyCode: 392 })],
  [PAGES, 'transactionDetails.amount', details({ amount: 60 })],
  [PAGES, 'transactionDetails.amount', details({ amount: '0.00' })],
  [PAGES, 'transactionDetails.amount', details({ amount: '60,00' })],
  [PAGES, 'transactionDetails.amount has more decimals', details({ amount: '1.005' })],
  [SALES, 'transactionDetails.currencyCode', details({ currencyCode: '949' })],
  [SALES, 'transactionDetails.currencyCode', details({ currencyCode: 1 })],
  [[...PAGES, 'refund'], 'transactionDetails.currencyCode', details({ currencyCode: 949 })],
  [[...PAGES, 'refund'], 'transactionDetails.currencyCode', details({ currencyCode: '48' })],
  [[...PAGES, 'refund'], 'transactionDetails.currencyCode', details({ currencyCode: '001' })],
  [[...SALES, ...PAGES], 'transactionDetails.vftFlag', details({ vftFlag: 'False' })],
  [[...SALES, ...PAGES], 'transactionDetails.cardNo is not a field', details({ cardNo: CARD.cardNo })],
  [SALES, 'cardDetails must be an object', card(null!)],
  [SALES, 'cardDetails.cardNo', card({ cardNo: '4508034508034581' })],
  [SALES, 'cardDetails.cardNo', card({ cardNo: '5246 7763 5690 3508' })],
  [SALES, 'cardDetails.cardNo', card({ cardNo: 5246776356903508 })],
  [SALES, 'cardDetails.expDate', card({ expDate: '1330' })],
  [SALES, 'cardDetails.expDate', card({ expDate: '12/30' })],
  [SALES, 'cardDetails.cvv', card({ cvv: 792 })],
  [SALES, 'cardDetails.pin is not a field', card({ pin: '1' })],
  [[...PAGES, 'refund'], 'cardDetails is not a field', card(CARD)],
  [SALES, 'cardHolderInfo.cardHolderName', { cardHolderInfo: { cardHolderName: ' ' } }],
  [SALES, 'cardHolderInfo.buyerGsm', { cardHolderInfo: { buyerGsm: '12' } }],
  [PAGES, 'cardHolderInfo is not a field', { cardHolderInfo: { cardHolderName: 'ADA', buyerGsm: '905551112233' } }],
  [SALES, 'extraParameter must be an object', { extraParameter: 'x' }],
  [SALES, 'extraParameter.pfSubMerchantId', { extraParameter: { pfSubMerchantId: 7 } }],
  [PAGES, 'extraParameter.pfSubMerchantId is not a field', { extraParameter: { pfSubMerchantId: '7' } }],
  [PAGES, 'extraParameter.pFSubMerchantId', { extraParameter: { pFSubMerchantId: 7 } }],
  [['refund'], 'orderId', { orderId: null }],
  [['refund'], 'paymentId', { paymentId: 7000000001 }],
  [['refund'], 'transactionDetails.currency is not a field', details({ currency: '949' })],
  [['void'], 'paymentId', { paymentId: '' }],
  [['void'], 'orderId is not a field', { orderId: 'ORD000000001' }],
  [['void'], 'transactionDetails.currency', details({ currency: null })],
  [['void'], 'transactionDetails.currency', details({ currency: 949 })],
  [['void'], 'transactionDetails.amount is not a field', details({ amount: 60 })],
  [['CheckBin'], 'bin', { bin: '4029' }],
  [['CheckBin'], 'bin', { bin: 402940 }],
  [['CheckBin'], 'amount', { amount: 1 }],
];
const SIGNED_OF_PAGES = [
  details({ amount: '60.0' }),
  details({ vftFlag: true }),
  details({ installmentCount: 2 }),
  details({ currencyCode: '840' }),
  { extraParameter: { pFSubMerchantId: '7' } },
  { failUrl: 'https://shop.example/other' },
];
/** The form of the id is the dialect's. */
const WRONG_IDS: readonly Row[] = [[ALL, 'conversationId', { conversationId: 'ABC-1' }]];

describe('request checks', () => {
  const simulators = {} as Record<SimulatorDialect, Simulator>;
  const merchants = {} as Record<SimulatorDialect, SimulatedMerchant>;
  let simulator: Simulator;
  let merchant: SimulatedMerchant;

  beforeAll(async () => {
    for (const dialect of ['standard', 'morpos'] as const) {
      simulators[dialect] = await startSimulator({ dialect });
      merchants[dialect] = new SimulatedMerchant(simulators[dialect]);
    }
    use('morpos');
  });
  afterEach(() => {
    const { charges, refunds } = simulator.ledger;
    const moved = [...charges, ...refunds];
    simulator.reset();
    use('morpos');
    expect(moved).toEqual([]);
  });
  afterAll(async () => {
    for (const one of Object.values(simulators)) await one.close();
  });

  function use(dialect: SimulatorDialect): void {
    simulator = simulators[dialect];
    merchant = merchants[dialect];
  }

  const rowsOf = (rows: readonly Row[], dialect: SimulatorDialect, others: readonly SimulatorOperation[]) =>
    rows.flatMap(([operations, problem, change]) =>
      operations
        .filter((operation) => others.includes(operation))
        .map((operation) => [dialect, operation, problem, change] as const),
    );

  it.each([...rowsOf(WRONG_FIELDS, 'standard', SALES), ...rowsOf([...WRONG_FIELDS, ...WRONG_IDS], 'morpos', ALL)])(
    '%s: %s is refused for %s: %j',
    async (dialect, operation, problem, change) => {
      use(dialect);
      const response = await merchant.send(operation, { change });
      expect(response.status).toBe(400);
      const { Code, validationResults } = await fieldsOf(response);
      const code = problem === 'conversationId' ? 'RVV0000999999' : REFUSAL_CODES.fields;
      expect(Code).toBe(code);
      expect(JSON.stringify(validationResults)).toContain(`"${problem}`);
      expect(simulator.requests[0]?.refusal).toMatchObject({ code });
    },
  );

  it('every wrong field is named at once', async () => {
    const change = { language: 'x', cardDetails: { cvv: '' }, cardHolderInfo: null };
    const { validationResults } = await merchant.ask('DoPayment', { change });
    expect(validationResults).toHaveLength(3);
  });

  it.each<Asked>([
    {},
    { installmentCount: 12 },
    { subMerchant: '' },
    { subMerchant: '77' },
    { vftFlag: false },
    { vftFlag: true },
    { amount: '60' },
    { amount: '1.005', currency: '048' },
  ])('a page with %j is taken', async (asked) => {
    for (const operation of PAGES) expect((await merchant.send(operation, asked)).status).toBe(200);
  });

  it.each<Change>([
    ...ALL.map((operation): Change => [operation, { sign: 'WRONG' }]),
    ['DoPayment', { extraParameter: { pfSubMerchantId: '7' } }],
    ['DoPayment', { transactionDetails: { vftFlag: true } }],
    ['CheckBin', { bin: '402941' }],
    ['CheckBin', { language: 'en' }],
    ...PAGES.flatMap((operation) => SIGNED_OF_PAGES.map((change): Change => [operation, change])),
  ])('%s that was signed otherwise is refused: %j', async (operation, change) => {
    const response = await merchant.send(operation, { change });
    expect([response.status, (await fieldsOf(response)).Code]).toEqual([400, REFUSAL_CODES.sign]);
  });

  it.each([
    ['DoPayment', '60.00', '60'],
    ['refund', '1.00', '1.0'],
  ] as const)('the sign of %s is over the digits that were sent: %s, not %s', async (operation, amount, sent) => {
    const text = merchant.text(operation, { amount }).replace(amount, sent);
    expect((await fieldsOf(merchant.post(operation, text))).Code).toBe(REFUSAL_CODES.sign);
  });

  it('a sale may leave out what it signs as False, and have any digits', async () => {
    const separate = await startSimulator({ dialect: 'morpos', luhn: false });
    const shop = new SimulatedMerchant(separate);
    for (const asked of [
      { change: details({ vftFlag: false }) },
      { amount: '60' },
      // The card of the documentation's own sample fails Luhn's check.
      { change: card({ cardNo: '4508034508034581' }) },
    ]) {
      expect((await shop.send('DoPayment', asked)).status).toBe(200);
    }
    await separate.close();
  });

  it.each(['standard', 'morpos'] as const)('%s: every header is wanted', async (dialect) => {
    use(dialect);
    const operations = dialect === 'standard' ? SALES : ALL;
    for (const operation of operations) {
      for (const name of ['x-ClientID', 'x-ClientSecret', 'x-GrantType', 'x-Scope', 'x-Timestamp']) {
        const { [name]: _left, ...without } = merchant.headers(operation);
        for (const headers of [without, { ...without, [name]: 'wrong' }]) {
          const response = await merchant.send(operation, {}, headers);
          expect([name, response.status]).toEqual([name, 401]);
          expect(await fieldsOf(response)).toEqual({
            Message: 'Unauthorized',
            Details: 'Unauthorized',
            Code: REFUSAL_CODES.credentials,
            validationResults: [{ ErrorMessage: expect.stringContaining('is missing or wrong') as string }],
          });
        }
      }
    }
  });

  it.each(['standard', 'morpos'] as const)('%s: a timestamp is in UTC, at most five minutes off', async (dialect) => {
    use(dialect);
    const at = (offsetMs: number) => new SimulatedMerchant(simulator, () => new Date(Date.now() + offsetMs)).headers();
    const inIstanbul = new Date(Date.now() + 3 * 60 * 60 * 1000).toISOString().replace('Z', '+03:00');
    const local = { ...merchant.headers(), 'x-Timestamp': inIstanbul };
    for (const headers of [at(-301_000), at(302_000), local]) {
      expect((await merchant.send('Init3d', {}, headers)).status).toBe(401);
    }
    expect((await merchant.send('Init3d', {}, at(-290_000))).status).toBe(200);
  });

  it.each([
    ['pf_write', ['Init3d', 'refund', 'void']],
    ['pf_read', ['CheckPayment', 'CheckBin']],
    ['pf_write pf_read', ['Init3d', 'refund', 'void', 'CheckPayment', 'CheckBin']],
    ['pf_write, pf_read', ['Init3d', 'refund', 'void', 'CheckPayment', 'CheckBin']],
    ['payment', PAGES],
    ['pf_read payment', []],
    ['pf_write payment', []],
    ['', []],
  ] as [string, SimulatorOperation[]][])('the scope "%s" is for %j alone', async (scope, allowed) => {
    for (const operation of ALL.filter((one) => one !== 'DoPayment')) {
      const { status } = await merchant.send(operation, {}, { ...merchant.headers(), 'x-Scope': scope });
      expect([operation, status]).toEqual([operation, allowed.includes(operation) ? 200 : 401]);
    }
  });

  it.each(['standard', 'morpos'] as const)('%s: a body is JSON, at a path, by POST', async (dialect) => {
    use(dialect);
    const headers = merchant.headers();
    const plain = { ...headers, 'content-type': 'text/plain' };
    expect((await merchant.send('DoPayment', {}, plain)).status).toBe(415);
    for (const body of ['', '{', 'null', '[]', '"x"', '['.repeat(10_000) + ']'.repeat(10_000)]) {
      const response = await merchant.post('DoPayment', body);
      expect([response.status, (await fieldsOf(response)).Code]).toEqual([400, REFUSAL_CODES.json]);
    }
    const { url } = simulator;
    expect((await fetch(`${url}/v1/Payment/Refund`, { method: 'POST', headers, body: '{}' })).status).toBe(404);
    expect((await fetch(`${url}/v1/Payment/DoPayment`, { headers })).status).toBe(405);
  });

  it.each([...PAGES, 'CheckPayment', 'CheckBin'] as const)('the bare interface has no %s', async (operation) => {
    use('standard');
    expect((await merchant.send(operation)).status).toBe(404);
  });

  it.each<[SimulatorDialect, string]>([
    ['standard', 'REFUND'],
    ['standard', 'VOID'],
    ['morpos', 'refund'],
    ['morpos', 'Void'],
    ['morpos', 'REVERSAL'],
  ])('%s: a transactionType of %s is taken for a sale', async (dialect, transactionType) => {
    use(dialect);
    const { validationResults } = await merchant.ask('refund', { change: details({ transactionType }) });
    expect(JSON.stringify(validationResults)).toContain('cardDetails must be an object');
    expect(simulator.requests.map(({ operation }) => operation)).toEqual(['DoPayment']);
  });

  it.each(['standard', 'morpos'] as const)(
    '%s: a request is recorded byte for byte, and its answer',
    async (dialect) => {
      use(dialect);
      const text = merchant.text('DoPayment', { conversationId: newConversationId(), change: { language: 'de' } });
      const answered = await (await merchant.post('DoPayment', text)).text();
      expect(simulator.requests).toMatchObject([
        {
          operation: 'DoPayment',
          method: 'POST',
          path: '/v1/Payment/DoPayment',
          headers: { 'x-clientid': simulator.credentials.clientId },
          text,
          body: JSON.parse(text) as object,
          refusal: { problems: ['language is missing or wrong'] },
          fault: null,
          answer: { status: 400, text: answered },
        },
      ]);
    },
  );
});

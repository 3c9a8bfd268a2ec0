import { REFUSAL_CODES, startSimulator, type Simulator, type SimulatorDialect } from '../../lib/simulator/index.js';
import { fieldsOf, SimulatedMerchant, newConversationId } from './simulated-merchant.js';

describe.each<SimulatorDialect>(['standard', 'morpos'])('request checks (%s)', (dialect) => {
  let simulator: Simulator;
  let merchant: SimulatedMerchant;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect });
    merchant = new SimulatedMerchant(simulator);
  });
  afterEach(() => {
    expect(simulator.ledger.charges).toEqual([]);
    simulator.reset();
  });
  afterAll(() => simulator.close());

  it.each(['x-ClientID', 'x-ClientSecret', 'x-GrantType', 'x-Scope', 'x-Timestamp'])(
    'wants a good %s',
    async (name) => {
      const { [name]: _left, ...without } = merchant.headers();
      for (const headers of [without, { ...without, [name]: 'wrong' }]) {
        const response = await merchant.post('DoPayment', merchant.saleText(), headers);
        expect(response.status).toBe(401);
        expect(await fieldsOf(response)).toEqual({
          Message: 'Unauthorized',
          Details: 'Unauthorized',
          Code: REFUSAL_CODES.credentials,
          validationResults: [{ ErrorMessage: expect.stringContaining('is missing or wrong') as string }],
        });
      }
    },
  );

  it('wants a timestamp in UTC, no more than five minutes off', async () => {
    const at = (offsetMs: number) => new SimulatedMerchant(simulator, () => new Date(Date.now() + offsetMs)).headers();
    const local = { ...merchant.headers(), 'x-Timestamp': new Date().toISOString().replace('Z', '+03:00') };
    for (const headers of [at(-301_000), at(302_000), local]) {
      expect((await merchant.post('Init3d', merchant.saleText(), headers)).status).toBe(401);
    }
    expect((await merchant.post('Init3d', merchant.saleText(), at(-290_000))).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>]>([
    ['merchantId', { merchantId: '1' }],
    ['merchantId', { merchantId: null }],
    ['returnUrl', { returnUrl: 'ftp://shop.example' }],
    ['failUrl', { failUrl: '/fail' }],
    ['paymentMethod', { paymentMethod: 'HOSTEDPAYMENT' }],
    ['language', { language: 'TR' }],
    ['sign', { sign: '' }],
    ['paymentInstrumentType', { paymentInstrumentType: 'CARDPAYMENT' }],
    ['cardDetails must be an object', { cardDetails: null }],
    ['cardDetails.cardNo', { cardDetails: { cardNo: '4508034508034581' } }],
    ['cardDetails.cardNo', { cardDetails: { cardNo: '5246 7763 5690 3508' } }],
    ['cardDetails.cardNo', { cardDetails: { cardNo: 5246776356903508 } }],
    ['cardDetails.expDate', { cardDetails: { expDate: '1330' } }],
    ['cardDetails.expDate', { cardDetails: { expDate: '12/30' } }],
    ['cardDetails.cvv', { cardDetails: { cvv: 792 } }],
    ['cardDetails.pin is not a field', { cardDetails: { pin: '1' } }],
    ['transactionDetails.transactionType', { transactionDetails: { transactionType: 'PREAUTH' } }],
    ['transactionDetails.installmentCount', { transactionDetails: { installmentCount: 1.5 } }],
    ['transactionDetails.installmentCount', { transactionDetails: { installmentCount: '1' } }],
    ['transactionDetails.amount', { transactionDetails: { amount: '60.00' } }],
    ['transactionDetails.amount', { transactionDetails: { amount: 0 } }],
    ['transactionDetails.amount', { transactionDetails: { amount: -1 } }],
    ['transactionDetails.amount', { transactionDetails: { amount: 1e21 } }],
    ['transactionDetails.amount has more decimals', { transactionDetails: { amount: 1.005 } }],
    ['transactionDetails.amount has more decimals', { transactionDetails: { amount: 1.5, currencyCode: 392 } }],
    ['transactionDetails.currencyCode', { transactionDetails: { currencyCode: '949' } }],
    ['transactionDetails.currencyCode', { transactionDetails: { currencyCode: 1 } }],
    ['transactionDetails.vftFlag', { transactionDetails: { vftFlag: 'false' } }],
    ['cardHolderInfo.cardHolderName', { cardHolderInfo: { cardHolderName: ' ' } }],
    ['cardHolderInfo.buyerGsm', { cardHolderInfo: { buyerGsm: '12' } }],
    ['extraParameter.pfSubMerchantId', { extraParameter: { pfSubMerchantId: 7 } }],
    ['extraParameter must be an object', { extraParameter: 'x' }],
    ['reference is not a field', { reference: 'order-1' }],
    ['toString is not a field', { toString: 'x' }],
  ])('refuses a wrong %s: %j', async (problem, change) => {
    const response = await merchant.doPayment({ change });
    expect(response.status).toBe(400);
    const answer = await fieldsOf(response);
    expect(answer.Code).toBe(REFUSAL_CODES.fields);
    expect(JSON.stringify(answer.validationResults)).toContain(`"${problem}`);
    expect(simulator.requests[0]?.refusal).toMatchObject({ code: REFUSAL_CODES.fields });
  });

  it('names every wrong field at once', async () => {
    const change = { language: 'x', cardDetails: { cvv: '' }, cardHolderInfo: null };
    const { validationResults } = await fieldsOf(merchant.doPayment({ change }));
    expect(validationResults).toHaveLength(3);
  });

  it('answers a conversationId of a wrong form', async () => {
    if (dialect === 'morpos') {
      expect((await fieldsOf(merchant.doPayment({ conversationId: 'ABC-1' }))).Code).toBe('RVV0000999999');
    }
    expect((await fieldsOf(merchant.doPayment({ conversationId: '' }))).Code).toBe('RVV0000999999');
  });

  it('wants JSON', async () => {
    const headers = { ...merchant.headers(), 'content-type': 'text/plain' };
    expect((await merchant.post('DoPayment', merchant.saleText(), headers)).status).toBe(415);
    for (const body of ['', '{', 'null', '[]', '"x"', '['.repeat(10_000) + ']'.repeat(10_000)]) {
      const response = await merchant.post('DoPayment', body);
      expect([response.status, (await fieldsOf(response)).Code]).toEqual([400, REFUSAL_CODES.json]);
    }
  });

  it('has no other paths and methods', async () => {
    const headers = merchant.headers();
    expect((await fetch(`${simulator.url}/v1/Payment/Refund`, { method: 'POST', headers, body: '{}' })).status).toBe(
      404,
    );
    expect((await fetch(`${simulator.url}/v1/Payment/DoPayment`, { headers })).status).toBe(405);
  });

  it('records the request byte for byte, and what was answered', async () => {
    const text = merchant.saleText({ amount: '60.00', change: { language: 'de' } });
    const response = await merchant.post('DoPayment', text);
    const answered = await response.text();
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
  });
});

describe('sign', () => {
  it('of the morpos dialect is made of the digits that were sent', async () => {
    const simulator = await startSimulator({ dialect: 'morpos' });
    const merchant = new SimulatedMerchant(simulator);
    const shorter = merchant.saleText({ amount: '60.00' }).replace('60.00', '60');
    expect((await fieldsOf(merchant.post('DoPayment', shorter))).Code).toBe(REFUSAL_CODES.sign);
    expect((await merchant.doPayment({ change: { extraParameter: { pfSubMerchantId: '7' } } })).status).toBe(400);
    expect((await merchant.doPayment({ change: { transactionDetails: { vftFlag: true } } })).status).toBe(400);
    expect((await merchant.doPayment({ change: { transactionDetails: { vftFlag: false } } })).status).toBe(200);
    expect((await merchant.doPayment({ amount: '60' })).status).toBe(200);
    const inquiry = JSON.stringify({ merchantId: '100200300', conversationId: newConversationId(), sign: 'wrong' });
    expect((await fieldsOf(merchant.post('CheckPayment', inquiry))).Code).toBe(REFUSAL_CODES.sign);
    await simulator.close();
  });
});

it('takes the docs’ own sample card when Luhn is off', async () => {
  const simulator = await startSimulator({ luhn: false });
  const change = { cardDetails: { cardNo: '4508034508034581' } };
  expect((await new SimulatedMerchant(simulator).doPayment({ change })).status).toBe(200);
  await simulator.close();
});

describe('the scope', () => {
  let simulator: Simulator;
  let merchant: SimulatedMerchant;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    merchant = new SimulatedMerchant(simulator);
  });
  afterAll(() => simulator.close());

  it.each([
    ['pf_write', 200, 401],
    ['pf_read', 401, 200],
    ['pf_write pf_read', 200, 200],
    ['pf_write, pf_read', 200, 200],
    ['pf_read payment', 401, 401],
    ['', 401, 401],
  ])('"%s" is what the operation needs, or is refused', async (scope, paid, inquired) => {
    const headers = { ...merchant.headers(), 'x-Scope': scope };
    const { merchantId, apiKey } = simulator.credentials;
    const conversationId = newConversationId();
    const inquiry = { merchantId, conversationId, sign: merchant.sign([conversationId, merchantId, apiKey]) };
    expect((await merchant.post('DoPayment', merchant.saleText(), headers)).status).toBe(paid);
    expect((await merchant.post('CheckPayment', JSON.stringify(inquiry), headers)).status).toBe(inquired);
  });
});

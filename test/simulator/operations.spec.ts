import {
  MAGIC_AMOUNTS,
  REFUSAL_CODES,
  startSimulator,
  TEST_CARDS,
  type Simulator,
  type SimulatorDialect,
} from '../../lib/simulator/index.js';
import { until } from '../services/until.js';
import { fieldsOf, newConversationId, SimulatedMerchant } from './simulated-merchant.js';

describe.each<SimulatorDialect>(['standard', 'morpos'])('payments (%s)', (dialect) => {
  let simulator: Simulator;
  let merchant: SimulatedMerchant;

  beforeEach(async () => {
    simulator = await startSimulator({ dialect, slowMs: 1, clock: () => new Date('2026-03-05T12:09:09Z') });
    merchant = new SimulatedMerchant(simulator, () => new Date('2026-03-05T12:09:09Z'));
  });
  afterEach(() => simulator.close());

  it('answers an approved payment exactly as the interface shows it', async () => {
    const conversationId = newConversationId();
    const response = await merchant.doPayment({ conversationId, amount: '60.00' });
    const message = dialect === 'standard' ? 'Approved' : 'Onaylandı';
    const text = await response.text();
    const sign = (JSON.parse(text) as { sign: string }).sign;

    expect(response.status).toBe(200);
    expect(text).toBe(
      `{"code":"B0000","message":"${message}","resultCode":"B0000","resultDescription":"${message}",` +
        `"responseDate":"05/03/2026 15:09:09","conversationId":"${conversationId}","orderId":"ORD000000001",` +
        '"paymentId":"7000000001","bankUniqueReferenceNumber":"606415000001","transactionDate":"05/03/2026 15:09:09",' +
        `"currency":"949","authCode":"000001","paymentInstrumentType":"CARDPAYMENT","sign":"${sign}",` +
        '"instrumentDetail":{"maskedCardNumber":"524677******3508","cardType":"CARD"},' +
        '"paymentInfo":{"installmentCount":1,"payFacCommissionRate":1.99,"amount":60.00,"payFacCommissionAmount":1.1940},' +
        '"okUrl":null,"failUrl":null}',
    );
    const { apiKey } = simulator.credentials;
    const signed = [
      'ORD000000001',
      '7000000001',
      '606415000001',
      '05/03/2026 15:09:09',
      '949',
      '000001',
      'CARDPAYMENT',
    ];
    const rest = ['524677******3508', 'CARD', '1', '60.00', '1.1940', '1.99', apiKey];
    if (dialect === 'morpos') expect(sign).toBe(merchant.sign([conversationId, ...signed, ...rest]));
    expect(simulator.ledger.charges).toMatchObject([
      { conversationId, kind: 'direct', amount: '60.00', currencyCode: 949, maskedCardNumber: '524677******3508' },
    ]);
  });

  it.each(TEST_CARDS)('approves test card $cardNo directly and with 3D', async (card) => {
    const conversationId = newConversationId();
    expect(await fieldsOf(merchant.doPayment({ change: { cardDetails: card } }))).toMatchObject({ code: 'B0000' });
    const opened = await fieldsOf(merchant.init3d({ conversationId, change: { cardDetails: card } }));
    expect(opened).toMatchObject({ code: 'B0000', conversationId });
    const { url, fields } = simulator.approve(opened.htmlForm as string);
    expect(url).toBe('https://shop.example/return');
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(0);
    expect(await fieldsOf(merchant.auth3d(fields))).toMatchObject({
      code: 'B0000',
      conversationId,
      orderId: fields.OrderId,
    });
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
    expect(simulator.ledger.total()).toBe('120.00');
    expect(simulator.ledger.violations).toEqual([]);
  });

  it.each(MAGIC_AMOUNTS.filter(({ pace }) => pace !== 'never'))('plays xx.$digits: $meaning', async (magic) => {
    const amount = `10.${magic.digits}`;
    expect(await fieldsOf(merchant.doPayment({ amount }))).toMatchObject({ code: magic.code, resultCode: magic.code });
    const half = `5.${String(Math.floor(Number(magic.digits) / 2)).padStart(2, '0')}`;
    expect(simulator.ledger.total()).toBe({ all: amount, half, nothing: '0.00' }[magic.charged]);
  });

  it.each(MAGIC_AMOUNTS.filter(({ pace }) => pace === 'never'))('plays xx.$digits: $meaning', async (magic) => {
    const conversationId = newConversationId();
    const client = new AbortController();
    const headers = merchant.headers();
    const body = merchant.saleText({ conversationId, amount: `10.${magic.digits}` });
    const url = `${simulator.url}/v1/Payment/DoPayment`;
    const answer = fetch(url, { method: 'POST', headers, body, signal: client.signal });
    await until(() => simulator.ledger.calls('DoPayment', conversationId) > 0);
    client.abort();
    await expect(answer).rejects.toThrow();
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(magic.charged === 'all' ? 1 : 0);
  });

  it('declines a card whose month is over', async () => {
    const change = { cardDetails: { expDate: '0226' } };
    expect(await fieldsOf(merchant.doPayment({ change }))).toMatchObject({ code: 'B0054' });
    expect(await fieldsOf(merchant.doPayment({ change: { cardDetails: { expDate: '0326' } } }))).toMatchObject({
      code: 'B0000',
    });
  });

  it('refuses and reports a second DoPayment or Auth3d of one conversationId', async () => {
    const direct = newConversationId();
    await merchant.doPayment({ conversationId: direct });
    expect((await merchant.doPayment({ conversationId: direct })).status).toBe(400);

    const conversationId = newConversationId();
    await merchant.init3d({ conversationId });
    const { fields } = simulator.approve(conversationId);
    await merchant.auth3d(fields);
    expect((await merchant.auth3d(fields)).status).toBe(400);

    expect(simulator.ledger.charges).toHaveLength(2);
    expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(2);
    expect(simulator.ledger.violations).toMatchObject([
      { kind: 'repeated-call', operation: 'DoPayment', conversationId: direct },
      { kind: 'repeated-call', operation: 'Auth3d', conversationId },
    ]);
  });

  it('accepts a conversationId only once', async () => {
    const conversationId = newConversationId();
    await merchant.init3d({ conversationId });
    expect((await merchant.init3d({ conversationId })).status).toBe(400);
    expect((await merchant.doPayment({ conversationId })).status).toBe(400);
    expect(simulator.ledger.charges).toEqual([]);
  });

  it('forgets everything on reset', async () => {
    const conversationId = newConversationId();
    await merchant.doPayment({ conversationId });
    simulator.reset();
    expect(simulator.requests).toEqual([]);
    expect(simulator.ledger.charges).toEqual([]);
    expect(await fieldsOf(merchant.doPayment({ conversationId }))).toMatchObject({ code: 'B0000' });
    expect(simulator.ledger.violations).toEqual([]);
  });
});

describe('inquiry', () => {
  let simulator: Simulator;
  let merchant: SimulatedMerchant;

  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos', slowMs: 1 });
    merchant = new SimulatedMerchant(simulator);
  });
  afterEach(() => simulator.close());

  it('tells what the ledger knows of a paid payment', async () => {
    const conversationId = newConversationId();
    await merchant.doPayment({ conversationId, amount: '12.30' });
    const response = await merchant.checkPayment(conversationId);
    expect(await response.clone().text()).toContain('"amount":12.30');
    expect(await fieldsOf(response)).toEqual({
      responseCode: 'B0000',
      responseDescription: 'Approved',
      transactionStatus: 'SUCCESS',
      transactionType: 'SALE',
      paymentInfo: { amount: 12.3, currency: '949', installmentCount: 1 },
      orderId: 'ORD000000001',
      paymentId: '7000000001',
    });
  });

  it.each(MAGIC_AMOUNTS.filter(({ pace }) => pace !== 'never'))(
    'after xx.$digits ($meaning) tells $inquiry',
    async (magic) => {
      const conversationId = newConversationId();
      await merchant.doPayment({ conversationId, amount: `10.${magic.digits}` });
      const answer = await fieldsOf(merchant.checkPayment(conversationId));
      expect(answer.responseCode).toBe(magic.inquiry ?? 'B0029');
      expect(Boolean(answer.paymentInfo)).toBe(magic.charged !== 'nothing');
    },
  );

  it('does not find a payment that was not made, nor one that waits at the bank', async () => {
    const conversationId = newConversationId();
    await merchant.init3d({ conversationId });
    const nothing = { responseCode: 'B0029', responseDescription: 'Original not found' };
    expect(await fieldsOf(merchant.checkPayment(newConversationId()))).toEqual(nothing);
    expect(await fieldsOf(merchant.checkPayment(conversationId))).toEqual(nothing);
  });

  it('is not part of the standard dialect', async () => {
    const standard = await startSimulator();
    expect((await new SimulatedMerchant(standard).checkPayment('X')).status).toBe(404);
    await standard.close();
  });
});

describe('CheckBin', () => {
  let simulator: Simulator;
  let merchant: SimulatedMerchant;
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    merchant = new SimulatedMerchant(simulator);
  });
  afterEach(() => simulator.close());

  it('answers, and moves nothing', async () => {
    const response = await merchant.checkBin();
    expect(response.status).toBe(200);
    expect(await fieldsOf(response)).toEqual({ responseCode: 'B0000', responseDescription: 'Approved' });
    expect(simulator.ledger.charges).toEqual([]);
    expect(simulator.ledger.calls('CheckBin')).toBe(1);
  });

  it.each([
    [{ sign: 'WRONG' }, 400, REFUSAL_CODES.sign],
    // Signed over another BIN.
    [{ bin: '402941' }, 400, REFUSAL_CODES.sign],
    [{ language: 'en' }, 400, REFUSAL_CODES.sign],
    [{ bin: '4029' }, 400, REFUSAL_CODES.fields],
    [{ bin: 402940 }, 400, REFUSAL_CODES.fields],
    [{ merchantId: 'another' }, 400, REFUSAL_CODES.fields],
    [{ amount: 1 }, 400, REFUSAL_CODES.fields],
    [{ conversationId: 'short' }, 400, REFUSAL_CODES.conversationId],
  ])('refuses %j', async (change, status, code) => {
    const response = await merchant.checkBin(change);
    expect(response.status).toBe(status);
    expect(await fieldsOf(response)).toMatchObject({ Code: code });
  });

  it.each<Record<string, string>>([
    { 'x-ClientSecret': 'wrong' },
    { 'x-ClientID': 'wrong' },
    { 'x-Scope': 'pf_write' },
  ])('refuses the headers %j', async (change) => {
    const response = await merchant.checkBin({}, { ...merchant.headers(), ...change });
    expect(response.status).toBe(401);
    expect(await fieldsOf(response)).toMatchObject({ Code: REFUSAL_CODES.credentials });
  });

  it('is not an operation of the bare interface', async () => {
    const standard = await startSimulator();
    const response = await new SimulatedMerchant(standard).checkBin();
    await standard.close();
    expect(response.status).toBe(404);
  });
});

import {
  MAGIC_AMOUNTS,
  REFUSAL_CODES,
  startSimulator,
  TEST_CARDS,
  type Simulator,
  type SimulatorDialect,
  type SimulatorOperation,
} from '../../lib/simulator/index.js';
import { fieldsIn } from '../rigs/bank-ways.js';
import { fieldsOf, FIRST_PAID, newConversationId, PATHS, SimulatedMerchant } from './simulated-merchant.js';

const NOON = new Date('2026-03-05T12:09:09Z');
const NOT_FOUND = { responseCode: 'B0029', responseDescription: 'Original not found' };

let simulator: Simulator;
let merchant: SimulatedMerchant;

async function start(dialect: SimulatorDialect): Promise<void> {
  simulator = await startSimulator({ dialect, slowMs: 1, clock: () => NOON });
  merchant = new SimulatedMerchant(simulator, () => NOON);
}

describe.each<SimulatorDialect>(['standard', 'morpos'])('payments (%s)', (dialect) => {
  beforeEach(() => start(dialect));
  afterEach(() => simulator.close());

  it('answers an approved payment exactly as the interface shows it', async () => {
    const conversationId = newConversationId();
    const response = await merchant.send('DoPayment', { conversationId });
    const message = dialect === 'standard' ? 'Approved' : 'Onaylandı';
    const text = await response.text();
    const { sign } = JSON.parse(text) as { sign: string };

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
    const ids = [conversationId, 'ORD000000001', '7000000001', '606415000001', '05/03/2026 15:09:09', '949', '000001'];
    const rest = ['CARDPAYMENT', '524677******3508', 'CARD', '1', '60.00', '1.1940', '1.99'];
    if (dialect === 'morpos') expect(sign).toBe(merchant.sign([...ids, ...rest, simulator.credentials.apiKey]));
    expect(simulator.ledger.charges).toMatchObject([
      { conversationId, kind: 'direct', amount: '60.00', currencyCode: 949, maskedCardNumber: '524677******3508' },
    ]);
  });

  it.each(TEST_CARDS)('approves test card $cardNo directly and with 3D', async (cardDetails) => {
    const conversationId = newConversationId();
    const change = { cardDetails };
    expect(await merchant.ask('DoPayment', { change })).toMatchObject({ code: 'B0000' });
    const opened = await merchant.ask('Init3d', { conversationId, change });
    expect(opened).toMatchObject({ code: 'B0000', conversationId });
    const { url, fields } = simulator.approve(opened.htmlForm as string);
    expect(url).toBe('https://shop.example/return');
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(0);
    const done = { code: 'B0000', conversationId, orderId: fields.OrderId };
    expect(await fieldsOf(merchant.auth3d(fields))).toMatchObject(done);
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
    expect(simulator.ledger.total()).toBe('120.00');
    expect(simulator.ledger.violations).toEqual([]);
  });

  it.each(MAGIC_AMOUNTS)('plays xx.$digits: $meaning', async ({ digits, code, charged, pace, inquiry }) => {
    const conversationId = newConversationId();
    const amount = `10.${digits}`;
    const answer = await merchant.played('DoPayment', { conversationId, amount }, pace);
    const said = answer && { code: answer.code, resultCode: answer.resultCode, authCode: answer.authCode };
    const authCode = charged === 'nothing' ? '' : '000001';
    expect(said).toEqual(pace === 'never' ? null : { code, resultCode: code, authCode });
    const half = `5.${String(Math.floor(Number(digits) / 2)).padStart(2, '0')}`;
    expect(simulator.ledger.total()).toBe({ all: amount, half, nothing: '0.00' }[charged]);
    if (dialect === 'standard') return;
    const asked = await merchant.ask('CheckPayment', { conversationId });
    expect([asked.responseCode, Boolean(asked.paymentInfo)]).toEqual([inquiry ?? 'B0029', charged !== 'nothing']);
  });

  it.each([
    ['0226', 'B0054'],
    ['0326', 'B0000'],
  ])('answers a card of %s in March 2026 with %s', async (expDate, code) => {
    expect(await merchant.ask('DoPayment', { change: { cardDetails: { expDate } } })).toMatchObject({ code });
  });

  it('refuses and reports a second Auth3d', async () => {
    const conversationId = newConversationId();
    await merchant.send('Init3d', { conversationId });
    const { fields } = simulator.approve(conversationId);
    await merchant.auth3d(fields);
    expect((await merchant.auth3d(fields)).status).toBe(400);
    expect(simulator.ledger.charges).toHaveLength(1);
    expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(2);
    const repeated = { kind: 'repeated-call', operation: 'Auth3d', conversationId };
    expect(simulator.ledger.violations).toMatchObject([repeated]);
  });
});

describe('payments', () => {
  beforeEach(() => start('morpos'));
  afterEach(() => simulator.close());

  const NEW = ['DoPayment', 'Init3d', 'hostedPage', 'embeddedForm', 'refund', 'void'] as const;

  it.each([...NEW, 'a declined refund'] as const)('take no conversationId again after %s', async (first) => {
    const { orderId, paymentId } = (await merchant.ask('DoPayment')) as { orderId: string; paymentId: string };
    const asked = { conversationId: newConversationId(), orderId, paymentId };
    const operation: SimulatorOperation = first === 'a declined refund' ? 'refund' : first;
    const amount = first === 'a declined refund' ? '60.01' : '60.00';
    expect((await merchant.send(operation, { ...asked, amount })).status).toBe(200);
    const { charges, refunds, violations } = simulator.ledger;
    const [charged, given] = [charges.length, refunds.length];
    violations.length = 0;
    for (const next of NEW) {
      const response = await merchant.send(next, asked);
      expect([next, response.status, (await fieldsOf(response)).Code]).toEqual([next, 400, REFUSAL_CODES.repeated]);
    }
    expect([charges.length, refunds.length]).toEqual([charged, given]);
    expect(simulator.ledger.refundedTimes(asked.conversationId)).toBe(given);
    const repeats = ['DoPayment', 'refund', 'void'].includes(operation);
    const repeated = { kind: 'repeated-call', operation, conversationId: asked.conversationId };
    expect(violations).toMatchObject(repeats ? [repeated] : []);
  });

  it('are forgotten on reset', async () => {
    const conversationId = newConversationId();
    await merchant.send('DoPayment', { conversationId });
    simulator.reset();
    expect(simulator.requests).toEqual([]);
    expect(simulator.ledger.charges).toEqual([]);
    expect(await merchant.ask('DoPayment', { conversationId })).toMatchObject({ code: 'B0000' });
    expect(simulator.ledger.violations).toEqual([]);
  });

  it('are told by an inquiry as the ledger knows them, or not at all', async () => {
    const [conversationId, waiting] = [newConversationId(), newConversationId()];
    await merchant.send('DoPayment', { conversationId, amount: '12.30' });
    const response = await merchant.send('CheckPayment', { conversationId });
    expect(await response.clone().text()).toContain('"amount":12.30');
    expect(await fieldsOf(response)).toEqual(FIRST_PAID);
    await merchant.send('Init3d', { conversationId: waiting });
    for (const id of [waiting, newConversationId()]) {
      expect(await merchant.ask('CheckPayment', { conversationId: id })).toEqual(NOT_FOUND);
    }
  });

  it('are not what CheckBin asks about', async () => {
    expect(await merchant.ask('CheckBin')).toEqual({ responseCode: 'B0000', responseDescription: 'Approved' });
    expect(simulator.ledger.charges).toEqual([]);
    expect(simulator.ledger.calls('CheckBin')).toBe(1);
    expect(simulator.requests.at(-1)?.path).toBe(PATHS.CheckBin);
  });
});

describe('the bank', () => {
  beforeEach(() => start('morpos'));
  afterEach(() => simulator.close());

  /** @returns the Base64 page of a 3D payment */
  async function init3d(conversationId = newConversationId()): Promise<string> {
    return (await merchant.ask('Init3d', { conversationId })).htmlForm as string;
  }

  it('sends the documented fields', async () => {
    const conversationId = newConversationId();
    await init3d(conversationId);
    const { url, fields, copies, request } = simulator.bank.answer(conversationId, { code: '123456' });
    expect([url, copies]).toEqual(['https://shop.example/return', 1]);
    expect(fields).toEqual({
      Code: 'B0000',
      Message: 'Onaylandı',
      EftCode: '00',
      MdStatus: expect.stringMatching(/^[A-Za-z0-9+/]{32}$/) as string,
      MdStatusMessage: '',
      conversationId,
      OrderId: 'ORD000000001',
      PaymentId: '7000000001',
      TransactionDate: '05/03/2026 15:09:09',
      Currency: '949',
      PaymentInstrumentType: 'CARDPAYMENT',
      MerchantId: '100200300',
      'InstrumentDetail.MaskedCardNumber': '524677******3508',
      'InstrumentDetail.CardType': 'CARD',
    });
    expect(request).toMatchObject({ url, method: 'POST', body: new URLSearchParams(fields).toString() });
  });

  it('decides once: later answers get the same callback', async () => {
    const page = await init3d();
    const first = simulator.bank.answer(page, { code: 'cancel' });
    expect(simulator.approve(page)).toBe(first);
    expect(first.fields.Code).toBe('B0017');
    expect(() => simulator.approve('nobody')).toThrow('no such payment');
  });

  it.each([
    ['123456', 'return', 'B0000', 1],
    ['222222', 'return', 'B0000', 2],
    ['444444', 'fail', 'B0000', 1],
    ['555555', 'return', 'B0055', 1],
    ['666666', 'return', 'B0000', 0],
    ['cancel', 'fail', 'B0017', 1],
    ['wrong', 'fail', 'B0055', 1],
  ])('answers %s at the %s URL with %s, and Auth3d says the same', async (code, path, result, copies) => {
    const callback = simulator.bank.answer(await init3d(), { code });
    expect([callback.url, callback.copies]).toEqual([`https://shop.example/${path}`, copies]);
    expect(callback.fields.Code).toBe(result);
    expect(await fieldsOf(merchant.auth3d(callback.fields))).toMatchObject({ code: result, resultCode: result });
    expect(simulator.ledger.charges).toHaveLength(result === 'B0000' ? 1 : 0);
  });

  it.each(['dotted', 'bracket', 'json'] as const)('takes InstrumentDetail back %s, or nested', async (notation) => {
    expect((await merchant.auth3d(fieldsIn(simulator.approve(await init3d()), notation))).status).toBe(200);
    const next = simulator.approve(await init3d()).fields;
    const others = Object.entries(next).filter(([field]) => !field.startsWith('InstrumentDetail'));
    const InstrumentDetail = { CardType: 'CARD', MaskedCardNumber: '524677******3508' };
    expect((await merchant.auth3d({ ...Object.fromEntries(others), InstrumentDetail })).status).toBe(200);
  });

  it('has its fields brought back as it sent them, or Auth3d is refused', async () => {
    const waiting = newConversationId();
    await init3d(waiting);
    const mine = simulator.bank.answer(await init3d(), { code: 'cancel' }).fields;
    const other = simulator.approve(await init3d()).fields;
    const { MdStatus: _left, ...without } = mine;
    const forged = [
      { ...mine, Code: 'B0000' },
      { ...mine, Extra: '1' },
      { ...mine, 'InstrumentDetail.CardType': 'X' },
      without,
      { ...other, conversationId: mine.conversationId },
      { ...other, conversationId: waiting },
      { ...other, conversationId: 'nobody' },
      { ...other, EftCode: 0 },
      {},
    ];
    for (const fields of forged) {
      expect((await fieldsOf(merchant.auth3d(fields))).Code).toBe(REFUSAL_CODES.callback);
    }
    expect(simulator.ledger.charges).toEqual([]);
  });
});

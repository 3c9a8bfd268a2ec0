import { REFUSAL_CODES, startSimulator, type HostedOperation, type Simulator } from '../../lib/simulator/index.js';
import { CARD, fieldsOf, HOSTED_PATHS, newConversationId, SimulatedMerchant } from './simulated-merchant.js';

const NOW = new Date('2026-03-05T12:09:09.500Z');
const SESSION = '[0-9a-f]{8}-[0-9a-f-]{27}';

let simulator: Simulator;
let merchant: SimulatedMerchant;

describe('hosted requests', () => {
  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos', clock: () => NOW });
    merchant = new SimulatedMerchant(simulator, () => NOW);
  });
  afterEach(() => {
    expect(simulator.ledger.charges).toEqual([]);
    expect(simulator.ledger.violations.filter(({ kind }) => kind === 'charged-twice')).toEqual([]);
    simulator.reset();
  });
  afterAll(() => simulator.close());

  it("hostedPage answers with the page's address", async () => {
    const conversationId = newConversationId();
    const response = await merchant.openPage('hostedPage', { conversationId });
    expect(response.status).toBe(200);
    expect(await fieldsOf(response)).toEqual({
      code: 'B0000',
      message: 'Onaylandı',
      conversationId,
      returnUrl: expect.stringMatching(new RegExp(`^${simulator.publicUrl}/hosted/${SESSION}$`)) as string,
    });
    expect(simulator.ledger.calls('hostedPage', conversationId)).toBe(1);
    expect(simulator.requests).toMatchObject([
      { operation: 'hostedPage', path: HOSTED_PATHS.hostedPage, refusal: null },
    ]);
  });

  it('embeddedForm answers with the form, its end and the URLs of the merchant', async () => {
    const conversationId = newConversationId();
    const answer = await fieldsOf(merchant.openPage('embeddedForm', { conversationId, language: 'en' }));
    expect(answer).toEqual({
      code: 'B0000',
      message: 'Approved',
      conversationId,
      paymentFormContent: expect.any(String) as string,
      paymentFormExpireTime: '2026-03-05T15:29:09+03:00',
      returnUrl: 'https://shop.example/return',
      failUrl: 'https://shop.example/fail',
    });
    expect(answer.paymentFormContent).toContain(`action="${simulator.publicUrl}/v1/EmbeddedPayment/processPayment"`);
  });

  it('the end of a form is as far off as the simulator was told', async () => {
    const hurried = await startSimulator({ dialect: 'morpos', hostedPageMs: 60_000, clock: () => NOW });
    const { paymentFormExpireTime } = await fieldsOf(
      new SimulatedMerchant(hurried, () => NOW).openPage('embeddedForm'),
    );
    await hurried.close();
    expect(paymentFormExpireTime).toBe('2026-03-05T15:10:09+03:00');
  });

  describe.each<HostedOperation>(['hostedPage', 'embeddedForm'])('%s', (operation) => {
    it.each([
      {},
      { installmentCount: 12 },
      { subMerchant: '' },
      { subMerchant: '77' },
      { vftFlag: false },
      { vftFlag: true },
      { amount: '60' },
      { amount: '1.005', currency: '048' },
    ])('takes %j', async (page) => {
      expect((await merchant.openPage(operation, page)).status).toBe(200);
    });

    it.each<[string, Record<string, unknown>]>([
      ['merchantId', { merchantId: '1' }],
      ['returnUrl', { returnUrl: 'ftp://shop.example' }],
      ['failUrl', { failUrl: null }],
      ['paymentMethod', { paymentMethod: 'CARDPAYMENT' }],
      ['paymentMethod', { paymentMethod: operation === 'hostedPage' ? 'EMBEDDEDPAYMENT' : 'HOSTEDPAYMENT' }],
      ['language', { language: 'TR' }],
      ['sign', { sign: null }],
      ['paymentInstrumentType', { paymentInstrumentType: null }],
      ['cardDetails is not a field', { cardDetails: CARD }],
      ['cardHolderInfo is not a field', { cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' } }],
      ['transactionDetails must be an object', { transactionDetails: null }],
      ['transactionDetails.transactionType', { transactionDetails: { transactionType: 'PREAUTH' } }],
      ['transactionDetails.installmentCount', { transactionDetails: { installmentCount: 1 } }],
      ['transactionDetails.installmentCount', { transactionDetails: { installmentCount: '2' } }],
      ['transactionDetails.amount', { transactionDetails: { amount: 60 } }],
      ['transactionDetails.amount', { transactionDetails: { amount: '0.00' } }],
      ['transactionDetails.amount', { transactionDetails: { amount: '60,00' } }],
      ['transactionDetails.amount has more decimals', { transactionDetails: { amount: '1.005' } }],
      ['transactionDetails.currencyCode', { transactionDetails: { currencyCode: 949 } }],
      ['transactionDetails.currencyCode', { transactionDetails: { currencyCode: '001' } }],
      ['transactionDetails.vftFlag', { transactionDetails: { vftFlag: 'False' } }],
      ['transactionDetails.cardNo is not a field', { transactionDetails: { cardNo: CARD.cardNo } }],
      ['extraParameter.pfSubMerchantId is not a field', { extraParameter: { pfSubMerchantId: '7' } }],
      ['extraParameter.pFSubMerchantId', { extraParameter: { pFSubMerchantId: 7 } }],
    ])('refuses a wrong %s: %j', async (problem, change) => {
      const response = await merchant.openPage(operation, { change });
      expect(response.status).toBe(400);
      const answer = await fieldsOf(response);
      expect(answer.Code).toBe(REFUSAL_CODES.fields);
      expect(JSON.stringify(answer.validationResults)).toContain(`"${problem}`);
    });

    it('refuses a conversationId of a wrong form', async () => {
      const { Code } = await fieldsOf(merchant.openPage(operation, { conversationId: 'ABC-1' }));
      expect(Code).toBe('RVV0000999999');
    });

    it.each<Record<string, unknown>>([
      { sign: 'WRONG' },
      { transactionDetails: { amount: '60.0' } },
      { transactionDetails: { vftFlag: true } },
      { transactionDetails: { installmentCount: 2 } },
      { transactionDetails: { currencyCode: '840' } },
      { extraParameter: { pFSubMerchantId: '7' } },
      { failUrl: 'https://shop.example/other' },
    ])('refuses what was signed otherwise: %j', async (change) => {
      const response = await merchant.openPage(operation, { change });
      expect([response.status, (await fieldsOf(response)).Code]).toEqual([400, REFUSAL_CODES.sign]);
    });

    it.each([
      ['payment', 200],
      ['pf_write pf_read', 401],
      ['pf_write payment', 401],
      ['', 401],
    ])('with the scope "%s" is answered with %i', async (scope, status) => {
      const headers = { ...merchant.headers(), 'x-Scope': scope };
      expect((await merchant.openPage(operation, {}, headers)).status).toBe(status);
    });

    it('accepts a conversationId only once, and so does every other payment', async () => {
      const [opened, waiting] = [newConversationId(), newConversationId()];
      expect((await merchant.openPage(operation, { conversationId: opened })).status).toBe(200);
      await merchant.init3d({ conversationId: waiting });
      for (const conversationId of [opened, waiting]) {
        for (const other of ['hostedPage', 'embeddedForm'] as const) {
          const { Code } = await fieldsOf(merchant.openPage(other, { conversationId }));
          expect(Code).toBe(REFUSAL_CODES.repeated);
        }
      }
      for (const answer of [
        merchant.doPayment({ conversationId: opened }),
        merchant.init3d({ conversationId: opened }),
        merchant.refund({ conversationId: opened }),
      ]) {
        expect((await fieldsOf(answer)).Code).toBe(REFUSAL_CODES.repeated);
      }
      expect(simulator.ledger.violations).toEqual([]);
    });

    it('opens no page when it was refused or never reached the gateway', async () => {
      const conversationId = newConversationId();
      await merchant.openPage(operation, { conversationId, change: { sign: 'WRONG' } });
      expect(() => simulator.payAtPage(conversationId)).toThrow('no such page');
      simulator.fail({ operation, at: 'before', kind: 'status', status: 503 });
      expect((await merchant.openPage(operation, { conversationId })).status).toBe(503);
      expect(() => simulator.payAtPage(conversationId)).toThrow('no such page');
      simulator.fail({ operation, at: 'after', kind: 'status', status: 503 });
      expect((await merchant.openPage(operation, { conversationId })).status).toBe(503);
      expect(simulator.cancelAtPage(conversationId).charged).toBe(false);
    });

    it('is not an operation of the bare interface', async () => {
      const standard = await startSimulator();
      const response = await new SimulatedMerchant(standard).openPage(operation);
      await standard.close();
      expect(response.status).toBe(404);
    });
  });

  it('opens a page whose answer the test edits', async () => {
    const conversationId = newConversationId();
    simulator.fail({
      operation: 'embeddedForm',
      kind: 'edit',
      edit: (fields) => (fields.paymentFormExpireTime = '2020-01-01T00:00:00+03:00'),
    });
    const { paymentFormExpireTime } = await fieldsOf(merchant.openPage('embeddedForm', { conversationId }));
    expect(paymentFormExpireTime).toContain('2020');
    expect(simulator.cancelAtPage(conversationId).url).toBe('https://shop.example/fail');
  });
});

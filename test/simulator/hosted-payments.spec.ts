import {
  MAGIC_AMOUNTS,
  startSimulator,
  TEST_CARDS,
  type HostedOperation,
  type Simulator,
  type SimulatorOptions,
} from '../../lib/simulator/index.js';
import { fieldsOf, SimulatedMerchant, type TestPage } from './simulated-merchant.js';

const NOON = new Date('2026-03-05T12:09:09Z');
const UNKNOWN = { responseCode: 'B0029', responseDescription: 'Original not found' };
/** Passes Luhn, and is no test card. */
const OTHER_CARD = '4000000000000002';

let simulator: Simulator;
let merchant: SimulatedMerchant;
let now: Date;

async function start(options: SimulatorOptions = {}): Promise<void> {
  now = NOON;
  simulator = await startSimulator({ dialect: 'morpos', clock: () => now, ...options });
  merchant = new SimulatedMerchant(simulator, () => now);
}

describe('hosted payments', () => {
  beforeEach(() => start());
  afterEach(async () => {
    expect(simulator.ledger.violations).toEqual([]);
    await simulator.close();
  });

  describe.each<HostedOperation>(['hostedPage', 'embeddedForm'])('a buyer at the %s', (operation) => {
    it('pays, and is brought back with the fields of the vendor', async () => {
      const conversationId = await open({ amount: '60.00' }, operation);
      const { url, fields, copies, late, request, charged } = simulator.payAtPage(conversationId);
      expect([url, copies, late, charged]).toEqual(['https://shop.example/return', 1, false, true]);
      expect(fields).toEqual({
        ResultCode: 'B0000',
        Message: 'Approved',
        ConversationId: conversationId,
        PaymentId: '7000000001',
        BankUniqueReferenceNumber: '606415000001',
        Amount: '60.00',
        Currency: '949',
        InstallmentCount: '1',
        MaskedCardNumber: '524677******3508',
        InstrumentDetail: '[object Object]',
      });
      expect(request).toEqual({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      });
      expect(simulator.ledger.charges).toEqual([
        {
          conversationId,
          orderId: 'ORD000000001',
          paymentId: '7000000001',
          amount: '60.00',
          currencyCode: 949,
          installmentCount: 1,
          kind: 'hosted',
          maskedCardNumber: '524677******3508',
          at: NOON,
        },
      ]);
    });

    it('is charged once, however often the page is paid or cancelled', async () => {
      const conversationId = await open({}, operation);
      const first = simulator.payAtPage(conversationId);
      expect(simulator.payAtPage(conversationId)).toBe(first);
      expect(simulator.payAtPage(conversationId, { cardNo: OTHER_CARD })).toBe(first);
      expect(simulator.cancelAtPage(conversationId)).toBe(first);
      expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
    });

    it('cancels, and can still pay', async () => {
      const conversationId = await open({}, operation);
      const { url, fields, copies, charged } = simulator.cancelAtPage(conversationId);
      expect([url, copies, charged]).toEqual(['https://shop.example/fail', 1, false]);
      expect(fields).toEqual({ Code: 'R0099', Message: 'Müşteri iptali.' });
      expect(simulator.ledger.decision(conversationId)).toBeUndefined();
      expect(simulator.payAtPage(conversationId).charged).toBe(true);
    });

    it('is declined, and pays with another card', async () => {
      const conversationId = await open({ language: 'en' }, operation);
      const declined = simulator.payAtPage(conversationId, { cardNo: OTHER_CARD });
      expect([declined.url, declined.charged, declined.copies]).toEqual(['https://shop.example/fail', false, 1]);
      expect(declined.fields).toEqual({ Code: 'R0099', Message: 'Invalid card number' });
      expect(simulator.ledger.charges).toEqual([]);
      expect(simulator.payAtPage(conversationId, { cardNo: TEST_CARDS[1]?.cardNo }).charged).toBe(true);
      expect(simulator.ledger.charges).toMatchObject([{ conversationId, maskedCardNumber: '469181******6876' }]);
    });
  });

  it('finds a page by its address and a form by its content', async () => {
    const { conversationId, returnUrl } = await fieldsOf(merchant.openPage('hostedPage'));
    const embedded = await fieldsOf(merchant.openPage('embeddedForm'));
    expect(simulator.payAtPage(returnUrl as string).fields.ConversationId).toBe(conversationId);
    const form = embedded.paymentFormContent as string;
    expect(simulator.payAtPage(form).fields.ConversationId).toBe(embedded.conversationId);
    for (const unknown of ['nobody', `${simulator.url}/hosted/00000000-0000-0000-0000-000000000000`]) {
      expect(() => simulator.payAtPage(unknown)).toThrow('no such page');
      expect(() => simulator.cancelAtPage(unknown)).toThrow('no such page');
      expect(() => simulator.closePage(unknown)).toThrow('no such page');
    }
  });

  it('is brought back by a page that was paid, whoever enters it again', async () => {
    const { returnUrl } = await fieldsOf(merchant.openPage('hostedPage'));
    const address = returnUrl as string;
    simulator.payAtPage(address);
    const again = new URLSearchParams({ action: 'pay', cardNo: OTHER_CARD });
    for (const init of [{}, { method: 'POST', body: again }]) {
      const response = await fetch(address, init);
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining('action="https://shop.example/return"'),
      ]);
    }
  });

  describe('cards', () => {
    it.each(TEST_CARDS)('$cardNo pays', async ({ cardNo }) => {
      expect(simulator.payAtPage(await open(), { cardNo }).charged).toBe(true);
    });

    it('are declined once they have expired, and the first that has not is taken', async () => {
      now = new Date('2031-03-05T12:09:09Z');
      const conversationId = await open();
      simulator.payAtPage(conversationId, { cardNo: TEST_CARDS[0]?.cardNo });
      expect(await inquire(conversationId)).toMatchObject({ responseCode: 'B0054' });
      expect(simulator.payAtPage(conversationId).fields.MaskedCardNumber).toBe('469181******6876');
      const second = await open();
      expect(simulator.payAtPage(second, { cardNo: TEST_CARDS[1]?.cardNo, expDate: '0226' }).charged).toBe(false);
    });

    it('that are no card are no try', async () => {
      const conversationId = await open();
      for (const card of [{ cardNo: '4000000000000001' }, { cardNo: '' }, { expDate: '1330' }]) {
        expect(() => simulator.payAtPage(conversationId, card)).toThrow(/does not take this (cardNo|expDate)$/);
      }
      expect(await inquire(conversationId)).toEqual(UNKNOWN);
    });
  });

  describe('instalments', () => {
    it('are chosen by the buyer where the merchant asked for none', async () => {
      const conversationId = await open({ installmentCount: 0 });
      expect(() => simulator.payAtPage(conversationId, { installmentCount: 5 })).toThrow('installmentCount');
      expect(simulator.payAtPage(conversationId, { installmentCount: 6 }).fields.InstallmentCount).toBe('6');
      expect(simulator.ledger.charges).toMatchObject([{ amount: '60.00', installmentCount: 6 }]);
      expect(await inquire(conversationId)).toMatchObject({ paymentInfo: { amount: 60, installmentCount: 6 } });
    });

    it('are those that the merchant asked for', async () => {
      const conversationId = await open({ installmentCount: 4 });
      expect(() => simulator.payAtPage(conversationId, { installmentCount: 6 })).toThrow('installmentCount');
      expect(simulator.payAtPage(conversationId).fields.InstallmentCount).toBe('4');
    });
  });

  describe('amounts with a special answer', () => {
    it.each(MAGIC_AMOUNTS)('plays xx.$digits: $meaning', async ({ digits, code, charged, pace, inquiry }) => {
      const conversationId = await open({ amount: `10.${digits}` });
      const callback = simulator.payAtPage(conversationId);
      const isPaid = code === 'B0000' && charged === 'all';
      expect(callback.charged).toBe(charged !== 'nothing');
      expect(callback.copies).toBe(pace === 'never' ? 0 : 1);
      expect(callback.url).toBe(`https://shop.example/${isPaid ? 'return' : 'fail'}`);
      if (!isPaid) expect(callback.fields.Code).toBe('R0099');
      expect((await inquire(conversationId)).responseCode).toBe(inquiry ?? 'B0029');
      expect(simulator.ledger.chargedTimes(conversationId)).toBe(charged === 'nothing' ? 0 : 1);
    });

    it('do not matter to a card that is no test card', async () => {
      const conversationId = await open({ amount: '10.96' });
      simulator.payAtPage(conversationId, { cardNo: OTHER_CARD });
      expect(await inquire(conversationId)).toMatchObject({ responseCode: 'B0014' });
    });
  });

  describe('the end of a page', () => {
    const LATER = new Date(NOON.getTime() + 20 * 60 * 1000);

    it('does not keep a late buyer from paying', async () => {
      const conversationId = await open();
      now = LATER;
      expect(simulator.payAtPage(conversationId).charged).toBe(true);
      expect(simulator.ledger.charges).toMatchObject([{ conversationId, at: LATER }]);
    });

    it('comes at once when the gateway closes it', async () => {
      const [paid, unpaid] = [await open(), await open()];
      const callback = simulator.payAtPage(paid);
      simulator.closePage(paid);
      simulator.closePage(unpaid);
      expect(simulator.payAtPage(paid)).toBe(callback);
      expect(() => simulator.payAtPage(unpaid)).toThrow('can no longer be paid');
      expect(() => simulator.cancelAtPage(unpaid)).toThrow('can no longer be paid');
      expect(simulator.ledger.charges).toHaveLength(1);
    });

    it('is forgotten on reset, with the page', async () => {
      const conversationId = await open();
      simulator.payAtPage(conversationId);
      simulator.reset();
      expect(() => simulator.payAtPage(conversationId)).toThrow('no such page');
      expect(await inquire(conversationId)).toEqual(UNKNOWN);
      expect(simulator.payAtPage(await open({ conversationId })).charged).toBe(true);
    });
  });

  describe('CheckPayment', () => {
    it('tells of a paid page as of any sale', async () => {
      const conversationId = await open({ amount: '12.30' });
      simulator.payAtPage(conversationId);
      expect(await inquire(conversationId)).toEqual({
        responseCode: 'B0000',
        responseDescription: 'Approved',
        transactionStatus: 'SUCCESS',
        transactionType: 'SALE',
        paymentInfo: { amount: 12.3, currency: '949', installmentCount: 1 },
        orderId: 'ORD000000001',
        paymentId: '7000000001',
      });
    });

    it('tells the code of the last declined try, until a card pays', async () => {
      const conversationId = await open();
      const codes: unknown[] = [(await inquire(conversationId)).responseCode];
      for (const card of [{ cardNo: OTHER_CARD }, { expDate: '0226' }, {}]) {
        simulator.payAtPage(conversationId, card);
        codes.push((await inquire(conversationId)).responseCode);
      }
      expect(codes).toEqual(['B0029', 'B0014', 'B0054', 'B0000']);
    });

    it('does not know a page that nobody paid', async () => {
      const conversationId = await open();
      expect(await inquire(conversationId)).toEqual(UNKNOWN);
      simulator.cancelAtPage(conversationId);
      expect(await inquire(conversationId)).toEqual(UNKNOWN);
    });
  });

  it('a buyer who closes the window sends nothing, though charged', async () => {
    const conversationId = await open();
    const callback = simulator.payAtPage(conversationId, { callback: 'none' });
    expect([callback.copies, callback.charged]).toEqual([0, true]);
    expect(simulator.payAtPage(conversationId).copies).toBe(1);
  });

  it('money taken at a page can be given back', async () => {
    const conversationId = await open({ amount: '60.00' });
    const { PaymentId } = simulator.payAtPage(conversationId).fields;
    const { orderId } = await inquire(conversationId);
    const ids = { orderId: orderId as string, paymentId: PaymentId };
    expect(await fieldsOf(merchant.refund({ ...ids, amount: '20.00' }))).toMatchObject({ code: '00' });
    expect(simulator.ledger.refundedAmount(conversationId)).toBe('20.00');
  });

  it('Auth3d does not take what a page sent', async () => {
    const conversationId = await open();
    const { fields } = simulator.payAtPage(conversationId);
    expect((await merchant.auth3d(fields)).status).toBe(400);
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
  });
});

/** @returns its conversationId */
async function open(page: TestPage = {}, operation: HostedOperation = 'hostedPage'): Promise<string> {
  const { conversationId } = await fieldsOf(merchant.openPage(operation, page));
  return conversationId as string;
}

function inquire(conversationId: string): Promise<Record<string, unknown>> {
  return fieldsOf(merchant.checkPayment(conversationId));
}

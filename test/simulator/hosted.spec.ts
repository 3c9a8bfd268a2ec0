import {
  MAGIC_AMOUNTS,
  startSimulator,
  TEST_CARDS,
  type HostedOperation,
  type Simulator,
} from '../../lib/simulator/index.js';
import {
  type Asked,
  FIRST_PAID,
  newConversationId,
  OTHER_CARD,
  PATHS,
  SimulatedMerchant,
} from './simulated-merchant.js';

const NOON = new Date('2026-03-05T12:09:09Z');
const UNKNOWN = { responseCode: 'B0029', responseDescription: 'Original not found' };
const SESSION = '[0-9a-f]{8}-[0-9a-f-]{27}';

let simulator: Simulator;
let merchant: SimulatedMerchant;
let now: Date;

describe('hosted payments', () => {
  beforeEach(async () => {
    now = NOON;
    simulator = await startSimulator({ dialect: 'morpos', clock: () => now });
    merchant = new SimulatedMerchant(simulator, () => now);
  });
  afterEach(async () => {
    expect(simulator.ledger.violations).toEqual([]);
    await simulator.close();
  });

  it("hostedPage answers with the page's address", async () => {
    const conversationId = newConversationId();
    expect(await merchant.ask('hostedPage', { conversationId })).toEqual({
      code: 'B0000',
      message: 'Onaylandı',
      conversationId,
      returnUrl: expect.stringMatching(new RegExp(`^${simulator.publicUrl}/hosted/${SESSION}$`)) as string,
    });
    expect(simulator.ledger.calls('hostedPage', conversationId)).toBe(1);
    const recorded = { operation: 'hostedPage', path: PATHS.hostedPage, refusal: null };
    expect(simulator.requests).toMatchObject([recorded]);
  });

  it('embeddedForm answers with the form, which is open for 20 minutes, and the URLs', async () => {
    const conversationId = newConversationId();
    const answer = await merchant.ask('embeddedForm', { conversationId, language: 'en' });
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

  describe.each<HostedOperation>(['hostedPage', 'embeddedForm'])('a buyer at the %s', (operation) => {
    it('pays, and is brought back with the fields of the vendor', async () => {
      const conversationId = await open({}, operation);
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
      expect(await inquire(conversationId)).toEqual(UNKNOWN);
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

    it('finds no page where its request was refused or never reached the gateway', async () => {
      const conversationId = newConversationId();
      await merchant.send(operation, { conversationId, change: { sign: 'WRONG' } });
      expect(() => simulator.payAtPage(conversationId)).toThrow('no such page');
      simulator.fail({ operation, at: 'before', kind: 'status', status: 503 });
      expect((await merchant.send(operation, { conversationId })).status).toBe(503);
      expect(() => simulator.payAtPage(conversationId)).toThrow('no such page');
      simulator.fail({ operation, at: 'after', kind: 'status', status: 503 });
      expect((await merchant.send(operation, { conversationId })).status).toBe(503);
      expect(simulator.cancelAtPage(conversationId).charged).toBe(false);
    });
  });

  it('a page is found by its address, a form by its content', async () => {
    const { conversationId, returnUrl } = await merchant.ask('hostedPage');
    const embedded = await merchant.ask('embeddedForm');
    expect(simulator.payAtPage(returnUrl as string).fields.ConversationId).toBe(conversationId);
    const form = embedded.paymentFormContent as string;
    expect(simulator.payAtPage(form).fields.ConversationId).toBe(embedded.conversationId);
    const atBank = await merchant.ask('Init3d');
    const others = [atBank.conversationId as string, atBank.htmlForm as string];
    expect(() => simulator.approve(returnUrl as string)).toThrow('no such payment');
    for (const unknown of ['nobody', ...others, `${simulator.url}/hosted/00000000-0000-0000-0000-000000000000`]) {
      expect(() => simulator.payAtPage(unknown)).toThrow('no such page');
      expect(() => simulator.cancelAtPage(unknown)).toThrow('no such page');
      expect(() => simulator.closePage(unknown)).toThrow('no such page');
    }
  });

  it('a page that was paid brings back whoever enters it again', async () => {
    const { returnUrl } = await merchant.ask('hostedPage');
    const address = returnUrl as string;
    simulator.payAtPage(address);
    const again = new URLSearchParams({ action: 'pay', cardNo: OTHER_CARD });
    for (const init of [{}, { method: 'POST', body: again }]) {
      const response = await fetch(address, init);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('action="https://shop.example/return"');
    }
  });

  it.each(TEST_CARDS)('$cardNo pays', async ({ cardNo }) => {
    expect(simulator.payAtPage(await open(), { cardNo }).charged).toBe(true);
  });

  it('cards are declined once they have expired, and the first that has not is taken', async () => {
    now = new Date('2031-03-05T12:09:09Z');
    const conversationId = await open();
    simulator.payAtPage(conversationId, { cardNo: TEST_CARDS[0]?.cardNo });
    expect(await inquire(conversationId)).toMatchObject({ responseCode: 'B0054' });
    expect(simulator.payAtPage(conversationId).fields.MaskedCardNumber).toBe('469181******6876');
    const second = await open();
    expect(simulator.payAtPage(second, { cardNo: TEST_CARDS[1]?.cardNo, expDate: '0226' }).charged).toBe(false);
  });

  it('what is no card is no try', async () => {
    const conversationId = await open();
    for (const card of [{ cardNo: '4000000000000001' }, { cardNo: '' }, { expDate: '1330' }]) {
      expect(() => simulator.payAtPage(conversationId, card)).toThrow(/does not take this (cardNo|expDate)$/);
    }
    expect(await inquire(conversationId)).toEqual(UNKNOWN);
  });

  it.each([
    ['chosen by the buyer where the merchant asked for none', 0, 5, 6],
    ['those that the merchant asked for', 4, 6, undefined],
  ])('instalments are %s', async (_rule, installmentCount, refused, taken) => {
    const conversationId = await open({ installmentCount });
    expect(() => simulator.payAtPage(conversationId, { installmentCount: refused })).toThrow('installmentCount');
    const count = taken ?? installmentCount;
    const { fields } = simulator.payAtPage(conversationId, taken === undefined ? {} : { installmentCount: taken });
    expect(fields.InstallmentCount).toBe(String(count));
    expect(simulator.ledger.charges).toMatchObject([{ amount: '60.00', installmentCount: count }]);
    expect(await inquire(conversationId)).toMatchObject({ paymentInfo: { amount: 60, installmentCount: count } });
  });

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

  it('the amount does not matter to a card that is no test card', async () => {
    const conversationId = await open({ amount: '10.96' });
    simulator.payAtPage(conversationId, { cardNo: OTHER_CARD });
    expect(await inquire(conversationId)).toMatchObject({ responseCode: 'B0014' });
  });

  it('a late buyer can pay until the gateway closes the page', async () => {
    const [late, paid, unpaid] = [await open(), await open(), await open()];
    now = new Date(NOON.getTime() + 20 * 60 * 1000);
    expect(simulator.payAtPage(late).charged).toBe(true);
    expect(simulator.ledger.charges).toMatchObject([{ conversationId: late, at: now }]);
    const callback = simulator.payAtPage(paid);
    for (const id of [paid, unpaid]) simulator.closePage(id);
    expect(simulator.payAtPage(paid)).toBe(callback);
    expect(() => simulator.payAtPage(unpaid)).toThrow('can no longer be paid');
    expect(() => simulator.cancelAtPage(unpaid)).toThrow('can no longer be paid');
    expect(simulator.ledger.charges).toHaveLength(2);
  });

  it('a page is forgotten on reset', async () => {
    const conversationId = await open();
    simulator.payAtPage(conversationId);
    simulator.reset();
    expect(() => simulator.payAtPage(conversationId)).toThrow('no such page');
    expect(await inquire(conversationId)).toEqual(UNKNOWN);
    expect(simulator.payAtPage(await open({ conversationId })).charged).toBe(true);
  });

  it('an inquiry tells the code of the last declined try, until a card pays: then as of any sale', async () => {
    const conversationId = await open({ amount: '12.30' });
    const codes: unknown[] = [(await inquire(conversationId)).responseCode];
    for (const card of [{ cardNo: OTHER_CARD }, { expDate: '0226' }, {}]) {
      simulator.payAtPage(conversationId, card);
      codes.push((await inquire(conversationId)).responseCode);
    }
    expect(codes).toEqual(['B0029', 'B0014', 'B0054', 'B0000']);
    expect(await inquire(conversationId)).toEqual(FIRST_PAID);
  });

  it('a buyer who closes the window sends nothing, though charged', async () => {
    const conversationId = await open();
    const callback = simulator.payAtPage(conversationId, { callback: 'none' });
    expect([callback.copies, callback.charged]).toEqual([0, true]);
    expect(simulator.payAtPage(conversationId).copies).toBe(1);
  });

  it('money taken at a page can be given back, and its callback is nothing for Auth3d', async () => {
    const conversationId = await open();
    const { fields } = simulator.payAtPage(conversationId);
    const { orderId } = (await inquire(conversationId)) as { orderId: string };
    const refund = { orderId, paymentId: fields.PaymentId, amount: '20.00' };
    expect(await merchant.ask('refund', refund)).toMatchObject({ code: '00' });
    expect(simulator.ledger.refundedAmount(conversationId)).toBe('20.00');
    expect((await merchant.auth3d(fields)).status).toBe(400);
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
  });

  it('a test can edit the answer that opens a page', async () => {
    const conversationId = newConversationId();
    const paymentFormExpireTime = '2020-01-01T00:00:00+03:00';
    const edit = (fields: object) => Object.assign(fields, { paymentFormExpireTime });
    simulator.fail({ operation: 'embeddedForm', kind: 'edit', edit });
    expect(await merchant.ask('embeddedForm', { conversationId })).toMatchObject({ paymentFormExpireTime });
    expect(simulator.cancelAtPage(conversationId).url).toBe('https://shop.example/fail');
  });
});

/** @returns its conversationId */
async function open(page: Asked = {}, operation: HostedOperation = 'hostedPage'): Promise<string> {
  return (await merchant.ask(operation, page)).conversationId as string;
}

function inquire(conversationId: string): Promise<Record<string, unknown>> {
  return merchant.ask('CheckPayment', { conversationId });
}

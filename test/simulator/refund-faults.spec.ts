import { Agent, request } from 'undici';
import {
  FAULT_NAMES,
  startSimulator,
  type FaultMoment,
  type FaultName,
  type RefundOperation,
  type Simulator,
} from '../../lib/simulator/index.js';
import { fieldsOf, newConversationId, SimulatedMerchant } from './simulated-merchant.js';

let simulator: Simulator;
let merchant: SimulatedMerchant;
let agent: Agent;
let ids: { orderId: string; paymentId: string };

describe('refund faults', () => {
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    merchant = new SimulatedMerchant(simulator);
    agent = new Agent({ connections: 1 });
    ids = await pay();
  });
  afterEach(async () => {
    await agent.destroy();
    await simulator.close();
  });

  const MOMENTS: [FaultMoment, number, boolean][] = [
    ['before', 0, false],
    ['middle', 0, true],
    ['after', 1, true],
  ];

  describe.each<RefundOperation>(['refund', 'void'])('%s', (operation) => {
    describe.each(['reset', 'close'] as const)('%s of the connection', (kind) => {
      it.each(MOMENTS)('%s the work: given back %i times, body read: %s', async (at, times, read) => {
        const fault = simulator.fail({ operation, at, kind });
        await expect(giveBack(operation)).rejects.toMatchObject({
          code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as string,
        });
        const record = await fault.played;
        expect(record).toMatchObject({ operation, fault: kind, answer: null });
        expect(record.text !== '').toBe(read);
        expect(simulator.ledger.refunds).toHaveLength(times);
        expect(simulator.ledger.calls(operation)).toBe(1);
      });
    });

    it.each(['before', 'middle', 'after'] as const)('a stall, %s the work, ends when it is released', async (at) => {
      const fault = simulator.fail({ operation, at, kind: 'stall' });
      const answer = giveBack(operation);
      await fault.played;
      expect(simulator.ledger.refunds).toHaveLength(at === 'after' ? 1 : 0);
      fault.release();
      expect((await answer).status).toBe(200);
      expect(simulator.ledger.refunds).toHaveLength(1);
    });

    it('resets a kept connection as its next request arrives', async () => {
      simulator.fail({ operation, kind: 'close-next-request' });
      expect((await giveBack(operation)).status).toBe(200);
      await expect(giveBack(operation)).rejects.toThrow();
      expect(simulator.ledger.calls(operation)).toBe(2);
      expect(simulator.ledger.refunds).toHaveLength(1);
    });

    it.each([400, 401, 403, 408, 409, 429, 500, 502, 503, 504])(
      'status %i, before and after the work',
      async (status) => {
        const other = await pay();
        simulator.fail({ operation, kind: 'status', status, at: 'before' });
        expect((await giveBack(operation)).status).toBe(status);
        expect(simulator.ledger.refunds).toEqual([]);
        simulator.fail({ operation, kind: 'status', status, at: 'after' });
        expect((await giveBack(operation, other)).status).toBe(status);
        expect(simulator.ledger.refunds).toHaveLength(1);
      },
    );

    it.each<[FaultName, object]>([
      ['unheard-of-code', { code: 'B7777', resultCode: 'B7777' }],
      ['indeterminate-code', { code: 'B0096', resultCode: 'B0096' }],
      ['declined-code', { code: 'B0051', resultCode: 'B0051' }],
      ['partial-approval', { code: 'B0010', resultCode: 'B0010' }],
      ['codes-disagree', { code: '00', resultCode: 'B0051' }],
      ['wrong-conversation-id', { code: '00', conversationId: 'SIM00000000000000000' }],
      ['smaller-amount', { code: '00', paymentInfo: { amount: 0.01 } }],
      ['larger-amount', { code: '00', paymentInfo: { amount: 160 } }],
      ['other-currency', { code: '00', currency: '840' }],
      ['bad-sign', { code: '00', sign: `${'A'.repeat(43)}=` }],
      ['pascal-case', { Code: '00' }],
      ['text-plain', { code: '00' }],
      ['nested', { code: '00' }],
      ['ten-mebibytes', { code: '00' }],
    ])('%s', async (kind, fields) => {
      simulator.fail({ operation, kind });
      expect(JSON.parse((await giveBack(operation)).text)).toMatchObject(fields);
      expect(simulator.ledger.refunds).toHaveLength(1);
    });

    it('one byte at a time', async () => {
      simulator.fail({ operation, kind: 'one-byte' });
      expect(JSON.parse((await giveBack(operation)).text)).toMatchObject({ code: '00' });
    });

    it('takes every named fault', async () => {
      for (const kind of FAULT_NAMES) {
        simulator.fail({ operation, kind });
        expect((await giveBack(operation, await pay())).status).toBe(200);
        expect(simulator.requests.at(-1)).toMatchObject({ operation, fault: expect.any(String) as string });
      }
      expect(simulator.ledger.refunds).toHaveLength(FAULT_NAMES.length);
    });

    it('meets no fault of another operation at its path, and leaves it in the queue', async () => {
      const another = operation === 'refund' ? 'void' : 'refund';
      simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'status', status: 503 });
      simulator.fail({ operation: another, at: 'before', kind: 'status', status: 502 });
      const mine = simulator.fail({ operation, at: 'before', kind: 'status', status: 500 });
      const statuses = [await giveBack(operation), await giveBack(operation), await giveBack(another)];
      expect(statuses.map(({ status }) => status)).toEqual([500, 200, 502]);
      expect((await merchant.doPayment()).status).toBe(503);
      expect(mine.timesPlayed).toBe(1);
    });

    it('meets the faults of any operation', async () => {
      simulator.fail({ operation: 'any', at: 'before', kind: 'status', status: 503 });
      expect((await giveBack(operation)).status).toBe(503);
    });

    it('shows that it was sent again, and gives back once', async () => {
      const conversationId = newConversationId();
      const asked = { ...ids, conversationId };
      simulator.fail({ operation, at: 'after', kind: 'status', status: 503 });
      await merchant[operation](asked);
      expect((await merchant[operation](asked)).status).toBe(400);
      expect(simulator.ledger.refundedTimes(conversationId)).toBe(1);
      expect(simulator.ledger.violations).toMatchObject([{ kind: 'repeated-call', operation, conversationId }]);
    });
  });
});

async function pay(): Promise<{ orderId: string; paymentId: string }> {
  return (await fieldsOf(merchant.doPayment({ amount: '60.00' }))) as { orderId: string; paymentId: string };
}

/** Gives the whole payment back, on the one connection of the agent. */
async function giveBack(operation: RefundOperation, { orderId, paymentId } = ids) {
  const asked = { conversationId: newConversationId(), orderId, paymentId };
  const answer = await request(`${simulator.url}/v1/Payment/DoPayment`, {
    dispatcher: agent,
    method: 'POST',
    headers: merchant.headers(),
    body: operation === 'refund' ? merchant.refundText(asked) : merchant.voidText(asked),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

import { Agent, request } from 'undici';
import {
  FAULT_NAMES,
  startSimulator,
  type FaultMoment,
  type FaultName,
  type FaultOptions,
  type Simulator,
  type SimulatorOperation,
} from '../../lib/simulator/index.js';
import { fieldsOf, newConversationId, SimulatedMerchant } from './simulated-merchant.js';

let simulator: Simulator;
let merchant: SimulatedMerchant;
let agent: Agent;

describe('faults', () => {
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    merchant = new SimulatedMerchant(simulator);
    agent = new Agent({ connections: 1 });
  });
  afterEach(async () => {
    await agent.destroy();
    await simulator.close();
  });

  describe('cut connections', () => {
    const kinds = ['reset', 'close'] as const;
    const moments: [FaultMoment, number, boolean][] = [
      ['before', 0, false],
      ['middle', 0, true],
      ['after', 1, true],
    ];

    describe.each(kinds)('%s', (kind) => {
      it.each(moments)('%s the work: charged %i times, body read: %s', async (at, charged, read) => {
        const fault = simulator.fail({ operation: 'DoPayment', at, kind });
        await expect(pay()).rejects.toMatchObject({
          code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as string,
        });
        const record = await fault.played;
        expect(simulator.ledger.charges).toHaveLength(charged);
        expect(simulator.ledger.calls('DoPayment')).toBe(1);
        expect(record).toMatchObject({ fault: kind, answer: null });
        expect(record.text !== '').toBe(read);
        expect((await pay()).status).toBe(200);
      });
    });

    it.each(['before', 'after'] as const)('half an answer, %s the work', async (at) => {
      const fault = simulator.fail({ operation: 'DoPayment', at, kind: 'half-reply' });
      await expect(pay()).rejects.toThrow();
      expect((await fault.played).answer).toBeNull();
      expect(simulator.ledger.charges).toHaveLength(at === 'after' ? 1 : 0);
    });

    it.each(['before', 'middle', 'after'] as const)('a stall, %s the work, ends when it is released', async (at) => {
      const fault = simulator.fail({ operation: 'DoPayment', at, kind: 'stall', times: 5 });
      const answer = pay();
      await fault.played;
      expect(simulator.ledger.charges).toHaveLength(at === 'after' ? 1 : 0);
      fault.release();
      expect((await answer).status).toBe(200);
      expect((await pay()).status).toBe(200);
      expect(simulator.ledger.charges).toHaveLength(2);
    });

    it.each(['before', 'middle', 'after'] as const)('a stall, %s the work, ends when the client leaves', async (at) => {
      const fault = simulator.fail({ operation: 'DoPayment', at, kind: 'stall' });
      const answer = pay();
      answer.catch(() => undefined);
      await fault.played;
      await agent.destroy();
      await expect(answer).rejects.toThrow();
      fault.release();
      expect(simulator.ledger.charges).toHaveLength(at === 'after' ? 1 : 0);
    });

    it('resets a kept connection as its next request arrives', async () => {
      simulator.fail({ operation: 'DoPayment', kind: 'close-next-request' });
      expect((await pay()).status).toBe(200);
      await expect(pay()).rejects.toThrow();
      expect(simulator.requests.map(({ connection, fault }) => [connection, fault])).toEqual([
        [1, 'close-next-request'],
        [1, 'close-next-request'],
      ]);
      expect(simulator.ledger.charges).toHaveLength(1);
      expect((await pay()).status).toBe(200);
    });

    it('closes a connection that it promised to keep', async () => {
      const first = await played({ operation: 'DoPayment', kind: 'close-after-reply' });
      expect(first.headers.connection).toBe('keep-alive');
      await new Promise((resolve) => agent.once('disconnect', resolve));
      expect((await pay()).status).toBe(200);
      expect(simulator.requests.map(({ connection }) => connection)).toEqual([1, 2]);
    });
  });

  describe('answers', () => {
    const statuses = [
      ...[301, 302, 307, 308, 400, 401, 403, 404, 405, 408],
      ...[409, 413, 415, 429, 500, 502, 503, 504],
    ];

    it.each(statuses)('status %i with JSON, HTML or nothing', async (status) => {
      const json = await played({ operation: 'any', kind: 'status', status, code: 'B0096' });
      expect(json.status).toBe(status);
      expect(JSON.parse(json.text)).toMatchObject({ Code: 'B0096', validationResults: [] });
      expect(json.headers.location).toBe(status < 400 ? `${simulator.url}/v1/elsewhere` : undefined);
      const html = await played({ operation: 'any', kind: 'status', status, body: 'html', at: 'before' });
      expect([html.status, html.headers['content-type']]).toEqual([status, 'text/html']);
      expect((await played({ operation: 'any', kind: 'status', status, body: 'empty' })).text).toBe('');
      expect(simulator.ledger.charges).toHaveLength(2);
    });

    it('of your own, and changes of your own', async () => {
      const own = await played({
        operation: 'any',
        at: 'before',
        kind: 'reply',
        status: 418,
        headers: { a: 'b' },
        body: 'tea',
      });
      expect([own.status, own.headers.a, own.text]).toEqual([418, 'b', 'tea']);
      const changed = await played({
        operation: 'any',
        kind: 'transform',
        transform: (reply) => ({ ...reply, headers: { connection: 'keep-alive', 'keep-alive': 'timeout=1' } }),
      });
      expect(changed.headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=1' });
      const edited = await played({ operation: 'any', kind: 'edit', edit: (fields) => (fields.authCode = 'X') });
      expect(JSON.parse(edited.text)).toMatchObject({ code: 'B0000', authCode: 'X' });
    });

    it.each<[FaultName, string]>([
      ['html', '<!doctype html>'],
      ['empty', ''],
      ['null', 'null'],
      ['array', '[]'],
      ['string', '"B0000"'],
      ['empty-object', '{}'],
      ['proto', '{"__proto__":{"code":"B0000"'],
      ['bom', '\uFEFF{"code":"B0000"'],
      ['pascal-case', '{"Code":"B0000","Message":"Onaylandı","ResultCode"'],
      ['text-plain', '{"code":"B0000"'],
      ['mojibake', '{"code":"B0000","message":"OnaylandÄ±"'],
      ['nested-only', '{"code":{"code":'],
    ])('%s', async (kind, start) => {
      const { status, text } = await played(doPayment(kind));
      expect(status).toBe(200);
      expect(text.slice(0, start.length)).toBe(start);
    });

    it.each<[FaultName, object]>([
      ['unheard-of-code', { code: 'B7777', resultCode: 'B7777' }],
      ['indeterminate-code', { code: 'B0096', resultCode: 'B0096' }],
      ['declined-code', { code: 'B0051', resultCode: 'B0051' }],
      ['partial-approval', { code: 'B0010', resultCode: 'B0010' }],
      ['codes-disagree', { code: 'B0000', resultCode: 'B0051' }],
      ['wrong-conversation-id', { code: 'B0000', conversationId: 'SIM00000000000000000' }],
      ['smaller-amount', { code: 'B0000', paymentInfo: { amount: 0.01 } }],
      ['larger-amount', { code: 'B0000', paymentInfo: { amount: 160 } }],
      ['other-currency', { code: 'B0000', currency: '840' }],
      ['bad-sign', { code: 'B0000', sign: `${'A'.repeat(43)}=` }],
      ['nested', { code: 'B0000' }],
      ['ten-mebibytes', { code: 'B0000' }],
    ])('%s', async (kind, fields) => {
      expect(JSON.parse((await played(doPayment(kind))).text)).toMatchObject(fields);
      expect(simulator.ledger.charges).toHaveLength(1);
    });

    it('the code alone', async () => {
      expect(JSON.parse((await played(doPayment('bare-code'))).text)).toEqual({ code: 'B0000' });
      expect(simulator.ledger.charges).toHaveLength(1);
    });

    it('no code at all', async () => {
      const answer = JSON.parse((await played(doPayment('no-code'))).text) as object;
      expect(Object.keys(answer)).toEqual(expect.not.arrayContaining(['code', 'resultCode']));
    });

    it('signs what it changed, so that a changed answer is wrong in one way only', async () => {
      const conversationId = newConversationId();
      simulator.fail(doPayment('smaller-amount'));
      const { sign, ...answer } = JSON.parse((await pay(conversationId)).body.toString()) as Record<string, string>;
      const ids = [conversationId, answer.orderId, answer.paymentId, answer.bankUniqueReferenceNumber] as string[];
      const rest = [
        'CARDPAYMENT',
        '524677******3508',
        'CARD',
        '1',
        '0.01',
        '1.1940',
        '1.99',
        simulator.credentials.apiKey,
      ];
      expect(sign).toBe(merchant.sign([...ids, answer.transactionDate!, '949', answer.authCode!, ...rest]));
    });

    it('cut JSON', async () => {
      const { text } = await played(doPayment('cut-json'));
      expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
      expect(text).toContain('"code":"B0000"');
    });

    it('Latin-1', async () => {
      const { headers, body } = await played(doPayment('latin-1'));
      expect(headers['content-type']).toContain('iso-8859-1');
      expect(JSON.parse(body.toString('latin1'))).toMatchObject({ code: 'B0000', message: 'Ödeme geçerli' });
    });

    it.each(['gzip', 'deflate', 'br'] as const)('%s', async (kind) => {
      simulator.fail(doPayment(kind));
      const response = await merchant.doPayment();
      expect(response.headers.get('content-encoding')).toBe(kind);
      expect(await fieldsOf(response)).toMatchObject({ code: 'B0000' });
    });

    it('one byte at a time', async () => {
      const { text } = await played({ operation: 'DoPayment', kind: 'one-byte' });
      expect(JSON.parse(text)).toMatchObject({ code: 'B0000' });
    });

    it.each<[FaultName, RegExp | undefined]>([
      ['page-not-base64', /^\*/],
      ['page-not-html', /^VGhpcyBpcyBub3QgYSBwYWdlLg==$/],
      ['page-missing', undefined],
      ['page-twice', /^PCFkb2N0eXBl/],
    ])('%s', async (kind, page) => {
      simulator.fail({ operation: 'Init3d', kind });
      const answer = await fieldsOf(merchant.init3d());
      if (page) expect(answer.htmlForm).toMatch(page);
      else expect(answer.htmlForm).toBeUndefined();
      expect('HTMLFORM' in answer).toBe(kind === 'page-twice');
    });
  });

  describe('the queue', () => {
    it.each<SimulatorOperation>(['DoPayment', 'Init3d', 'Auth3d', 'CheckPayment'])(
      'plays on %s alone',
      async (operation) => {
        const fault = simulator.fail({ operation, kind: 'null', at: 'before' });
        const conversationId = newConversationId();
        const opened = await (await merchant.init3d({ conversationId })).text();
        if (operation === 'Init3d') {
          expect(opened).toBe('null');
          expect(() => simulator.approve(conversationId)).toThrow();
          return;
        }
        const auth3d = await (await merchant.auth3d(simulator.approve(conversationId).fields)).text();
        const checked = await (await merchant.checkPayment(conversationId)).text();
        const direct = await (await merchant.doPayment()).text();
        const nulls = { Auth3d: auth3d, CheckPayment: checked, DoPayment: direct };
        expect(Object.entries(nulls).filter(([, text]) => text === 'null')).toEqual([[operation, 'null']]);
        expect((await fault.played).operation).toBe(operation);
        expect(simulator.ledger.charges).toHaveLength(operation === 'CheckPayment' ? 2 : 1);
      },
    );

    it('keeps the order, plays a fault as often as it was ordered, and forgets it on reset', async () => {
      const status = (code: number, times?: number) =>
        simulator.fail({ operation: 'any', kind: 'status', status: code, times });
      const twice = status(500, 2);
      status(503);
      status(504);
      const answers = [(await pay()).status, (await pay()).status, (await pay()).status];
      simulator.reset();
      expect([...answers, (await pay()).status]).toEqual([500, 500, 503, 200]);
      expect(twice.timesPlayed).toBe(2);
    });

    it('sees a request that is sent again after a fault', async () => {
      const conversationId = newConversationId();
      simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'status', status: 503 });
      await pay(conversationId);
      await pay(conversationId);
      expect(simulator.ledger.charges).toHaveLength(1);
      expect(simulator.ledger.violations).toMatchObject([{ kind: 'repeated-call', conversationId }]);
    });

    it('knows every named fault', async () => {
      for (const kind of FAULT_NAMES) expect((await played({ operation: 'any', kind })).status).toBe(200);
    });
  });
});

/** A DoPayment on the one connection of the agent. */
async function pay(conversationId = newConversationId(), amount = '60.00') {
  const answer = await request(`${simulator.url}/v1/Payment/DoPayment`, {
    dispatcher: agent,
    method: 'POST',
    headers: merchant.headers(),
    body: merchant.saleText({ conversationId, amount }),
  });
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
}

async function played(options: Omit<FaultOptions, 'operation'> & FaultOptions) {
  const fault = simulator.fail(options);
  const answer = await pay();
  await fault.played;
  return { ...answer, text: answer.body.toString() };
}

function doPayment(kind: FaultName): FaultOptions {
  return { operation: 'DoPayment', kind };
}

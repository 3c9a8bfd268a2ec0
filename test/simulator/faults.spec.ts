import { Agent, request } from 'undici';
import { type FaultMoment, type FaultOptions, type Simulator, startSimulator } from '../../lib/simulator/index.js';
import { ODD } from '../rigs/odd-answers.js';
import { newConversationId, SimulatedMerchant } from './simulated-merchant.js';

let simulator: Simulator;
let merchant: SimulatedMerchant;
let agent: Agent;

const MOVING = ['DoPayment', 'refund', 'void'] as const;
type Moving = (typeof MOVING)[number];
const MOMENTS = ['before', 'middle', 'after'] as const satisfies readonly FaultMoment[];
/** What the client sees of a fault: that its connection was cut, or a status. */
const SEEN = [
  ...(['reset', 'close'] as const).flatMap((kind) => MOMENTS.map((at) => [{ kind }, at, 'cut'] as const)),
  ...(['before', 'after'] as const).flatMap((at) => [
    [{ kind: 'half-reply' }, at, 'cut'] as const,
    [{ kind: 'status', status: 503 }, at, 503] as const,
  ]),
];

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

  describe.each(MOVING)('of %s', (operation) => {
    /** How often it moved money. */
    const moved = () => simulator.ledger[operation === 'DoPayment' ? 'charges' : 'refunds'].length;
    let text: string;
    beforeEach(async () => {
      text = await textOf(operation);
    });

    it.each(SEEN)('%j, %s the work, and a request that is sent again', async (play, at, seen) => {
      const calls = simulator.ledger.calls(operation);
      const fault = simulator.fail({ operation, at, ...play });
      const answer = await send(text).then(
        ({ status }) => status,
        ({ code }: { code: string }) => (/ECONNRESET|UND_ERR_SOCKET|CONTENT_LENGTH/.test(code) ? 'cut' : code),
      );
      expect(answer).toBe(seen);
      const record = await fault.played;
      expect(record).toMatchObject({ operation, fault: play.kind });
      if (seen === 'cut') expect(record.answer).toBeNull();
      // Where a path has several operations, only the body tells which one is meant: it is read in any case.
      const isCutEarly = at === 'before' && (play.kind === 'reset' || play.kind === 'close');
      expect(record.text === '').toBe(isCutEarly);
      expect([moved(), simulator.ledger.calls(operation)]).toEqual([at === 'after' ? 1 : 0, calls + 1]);

      expect((await send(text)).status).toBe(at === 'after' ? 400 : 200);
      expect(moved()).toBe(1);
      expect(simulator.ledger.violations).toMatchObject(isCutEarly ? [] : [{ kind: 'repeated-call', operation }]);
    });

    it.each(MOMENTS)('a stall, %s the work, ends when it is released, or when the client leaves', async (at) => {
      const fault = simulator.fail({ operation, at, kind: 'stall', times: 5 });
      const answer = send(text);
      await fault.played;
      expect(moved()).toBe(at === 'after' ? 1 : 0);
      fault.release();
      expect((await answer).status).toBe(200);
      expect(moved()).toBe(1);

      const abandoned = await textOf(operation);
      const before = moved();
      const stall = simulator.fail({ operation, at, kind: 'stall' });
      const never = send(abandoned);
      never.catch(() => undefined);
      await stall.played;
      await agent.destroy();
      await expect(never).rejects.toThrow();
      stall.release();
      expect(moved() - before).toBe(at === 'after' ? 1 : 0);
    });

    it('is met by no fault of another operation at its path', async () => {
      const others = MOVING.filter((other) => other !== operation);
      const play = { at: 'before', kind: 'status' } as const;
      const faults = others.map((other) => simulator.fail({ operation: other, ...play, status: 502 }));
      const mine = simulator.fail({ operation, ...play, status: 500 });
      expect((await send(text)).status).toBe(500);
      expect([mine.timesPlayed, ...faults.map(({ timesPlayed }) => timesPlayed)]).toEqual([1, 0, 0]);
    });
  });

  it.each([301, 307, 400, 429, 500, 504])('status %i has JSON, HTML or nothing', async (status) => {
    const json = await played({ operation: 'any', kind: 'status', status, code: 'B0096' });
    expect(json.status).toBe(status);
    expect(JSON.parse(json.text)).toMatchObject({ Code: 'B0096', validationResults: [] });
    expect(json.headers.location).toBe(status < 400 ? `${simulator.url}/v1/elsewhere` : undefined);
    const html = await played({ operation: 'any', kind: 'status', status, body: 'html', at: 'before' });
    expect([html.status, html.headers['content-type']]).toEqual([status, 'text/html']);
    expect((await played({ operation: 'any', kind: 'status', status, body: 'empty' })).text).toBe('');
    expect(simulator.ledger.charges).toHaveLength(2);
  });

  it('an answer can be your own, changed, or sent by your own code', async () => {
    const tea = { status: 418, headers: { a: 'b' }, body: 'tea' };
    const own = await played({ operation: 'any', at: 'before', kind: 'reply', ...tea });
    expect([own.status, own.headers.a, own.text]).toEqual([418, 'b', 'tea']);
    const edited = await played({
      operation: 'any',
      kind: 'edit',
      edit: (fields, { operation }) => (fields.authCode = operation!),
    });
    expect(JSON.parse(edited.text)).toMatchObject({ code: 'B0000', authCode: 'DoPayment' });
    const sent = await played({
      operation: 'any',
      kind: 'send',
      send: (response, { body }, { path }) => response.writeHead(202, { path }).end(body.subarray(0, 1)),
    });
    expect([sent.status, sent.headers.path, sent.text]).toEqual([202, '/v1/Payment/DoPayment', '{']);
    expect(simulator.ledger.charges).toHaveLength(2);
  });

  it('an answer is signed after it was changed, so that it is wrong in one way only', async () => {
    const conversationId = newConversationId();
    simulator.fail({ operation: 'DoPayment', ...ODD['smaller-amount'] });
    const { sign, ...answer } = await merchant.ask('DoPayment', { conversationId });
    const ids = [conversationId, answer.orderId, answer.paymentId, answer.bankUniqueReferenceNumber] as string[];
    const card = ['CARDPAYMENT', '524677******3508', 'CARD', '1', '0.01', '1.1940', '1.99'];
    const rest = [answer.transactionDate as string, '949', answer.authCode as string, ...card];
    expect(sign).toBe(merchant.sign([...ids, ...rest, simulator.credentials.apiKey]));
  });

  it.each([
    [{ operation: 'DoPayments', kind: 'reset' }, 'no operation DoPayments'],
    [{ operation: 'DoPayment', kind: 'resett' }, 'no fault resett'],
    [{ operation: 'any' }, 'no fault undefined'],
  ])('what would never be played is not queued: %j', (fault, message) => {
    expect(() => simulator.fail(fault as FaultOptions)).toThrow(message);
  });

  it('faults keep their order, are played as often as they were ordered, and are forgotten on reset', async () => {
    const status = (code: number, times?: number) =>
      simulator.fail({ operation: 'any', kind: 'status', status: code, times });
    const twice = status(500, 2);
    status(503);
    status(504);
    const answers = [await send(), await send(), await send()].map((answer) => answer.status);
    simulator.reset();
    expect([...answers, (await send()).status]).toEqual([500, 500, 503, 200]);
    expect(twice.timesPlayed).toBe(2);
  });
});

/** A sale, or a request that gives a sale back. */
async function textOf(operation: Moving): Promise<string> {
  if (operation === 'DoPayment') return merchant.text('DoPayment');
  const { orderId, paymentId } = (await merchant.ask('DoPayment')) as { orderId: string; paymentId: string };
  return merchant.text(operation, { orderId, paymentId });
}

/** Sends it on the one connection of the agent. */
async function send(body = merchant.text('DoPayment')) {
  const url = `${simulator.url}/v1/Payment/DoPayment`;
  const answer = await request(url, { dispatcher: agent, method: 'POST', headers: merchant.headers(), body });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

async function played(options: FaultOptions) {
  const fault = simulator.fail(options);
  const answer = await send();
  await fault.played;
  return answer;
}

import { REFUSAL_CODES, type Simulator, type SimulatorDialect, startSimulator } from '../../lib/simulator/index.js';
import { fieldsOf, SimulatedMerchant } from './simulated-merchant.js';

/** What is wrong with fields, headers and signs is in expected/requests.txt. */
describe.each<SimulatorDialect>(['standard', 'morpos'])('request checks (%s)', (dialect) => {
  let simulator: Simulator;
  let merchant: SimulatedMerchant;
  beforeEach(async () => {
    simulator = await startSimulator({ dialect });
    merchant = new SimulatedMerchant(simulator);
  });
  afterEach(() => simulator.close());

  it('a timestamp is at most five minutes off', async () => {
    const at = (offsetMs: number) => new SimulatedMerchant(simulator, () => new Date(Date.now() + offsetMs)).headers();
    for (const headers of [at(-301_000), at(302_000)]) {
      expect((await merchant.send('Init3d', {}, headers)).status).toBe(401);
    }
    expect((await merchant.send('Init3d', {}, at(-290_000))).status).toBe(200);
  });

  it('a body is JSON, at a path, by POST', async () => {
    for (const body of ['', '{', 'null', '[]', '"x"', '['.repeat(10_000) + ']'.repeat(10_000)]) {
      const response = await merchant.post('DoPayment', body);
      expect([response.status, (await fieldsOf(response)).Code]).toEqual([400, REFUSAL_CODES.json]);
    }
    const { url } = simulator;
    const headers = merchant.headers();
    expect((await fetch(`${url}/v1/Payment/Refund`, { method: 'POST', headers, body: '{}' })).status).toBe(404);
    expect((await fetch(`${url}/v1/Payment/DoPayment`, { headers })).status).toBe(405);
    expect(simulator.ledger.charges).toEqual([]);
  });
});

it.each([
  ['DoPayment', '60.00', '60'],
  ['refund', '1.00', '1.0'],
] as const)('the sign of %s is over the digits that were sent: %s, not %s', async (operation, amount, sent) => {
  const simulator = await startSimulator({ dialect: 'morpos' });
  const merchant = new SimulatedMerchant(simulator);
  const text = merchant.text(operation, { amount }).replace(amount, sent);
  expect((await fieldsOf(merchant.post(operation, text))).Code).toBe(REFUSAL_CODES.sign);
  await simulator.close();
});

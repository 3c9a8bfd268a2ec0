import { REFUSAL_CODES, startSimulator, type Simulator } from '../../lib/simulator/index.js';
import { fieldsOf, SimulatedMerchant } from './simulated-merchant.js';

describe('CheckBin of the simulator', () => {
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

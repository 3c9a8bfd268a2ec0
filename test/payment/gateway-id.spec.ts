import { gatewayHostOf, gatewayIdOf } from '../../lib/payment/gateway-id.js';

const OWN = { dialect: 'morpos', baseUrl: 'https://pay.example/pos', merchantId: '100200300' };

describe('gatewayIdOf', () => {
  it.each([
    ['a slash at the end', 'https://pay.example/pos/'],
    ['another path', 'https://pay.example/v2'],
    ['no path', 'https://pay.example'],
    ['letter case', 'HTTPS://Pay.Example/POS'],
    ['the usual port', 'https://pay.example:443/pos'],
    ['the same port by http', 'http://pay.example:443/pos'],
  ])('is the same with %s', (_what, baseUrl) => {
    expect(gatewayIdOf({ ...OWN, baseUrl }).split(' ')[1]).toBe(gatewayIdOf(OWN).split(' ')[1]);
  });

  it.each([
    ['host', { baseUrl: 'https://sandbox.pay.example/pos' }],
    ['port', { baseUrl: 'https://pay.example:8443/pos' }],
    ['usual port', { baseUrl: 'http://pay.example/pos' }],
    ['dialect', { dialect: 'standard' }],
    ['merchantId', { merchantId: '100200301' }],
    ['merchantId in letter case', { merchantId: '100200300A' }],
  ])('differs by %s', (_what, other) => {
    expect(gatewayIdOf({ ...OWN, ...other })).not.toBe(gatewayIdOf(OWN));
  });

  it('does not confuse parts that are the same text when joined', () => {
    const one = gatewayIdOf({ ...OWN, dialect: 'a', merchantId: 'b","443","c' });
    expect(one).not.toBe(gatewayIdOf({ ...OWN, dialect: 'a', merchantId: 'c' }));
  });

  it.each([
    ['https://pay.example/pos', 'pay.example'],
    ['https://PAY.example:8443', 'pay.example:8443'],
    ['http://[::1]:3001/x', '[::1]:3001'],
    ['https://ödeme.example', 'xn--deme-4qa.example'],
    ['simulator:', 'simulator:'],
  ])('shows the host of %s alone, and a hash', (baseUrl, host) => {
    const id = gatewayIdOf({ ...OWN, baseUrl });
    expect(gatewayHostOf(id)).toBe(host);
    expect(id).toMatch(/^\S+ [0-9a-f]{16}$/);
    expect(id).not.toContain(OWN.merchantId);
  });
});

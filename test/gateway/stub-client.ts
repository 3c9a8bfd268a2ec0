import { standardDialect } from '../../lib/gateway/dialects/standard.dialect.js';
import { GatewayClient } from '../../lib/gateway/gateway-client.js';
import type { GatewayDialect, GatewaySettings } from '../../lib/gateway/gateway-dialect.js';
import type { GatewayTrouble } from '../../lib/gateway/gateway-trouble.js';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import type { Transmission, WireRequest } from '../../lib/gateway/transport/attempt.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { CREDENTIALS, OPEN_CLAIM, sampleSale } from './sample-sale.js';

/** Keeps the requests, and answers each with the same transmission. */
class StubTransport {
  readonly requests: WireRequest[] = [];
  constructor(private readonly transmission: Transmission) {}

  post(request: WireRequest): Promise<Transmission> {
    this.requests.push(request);
    return Promise.resolve(this.transmission);
  }
}

/** A client whose every request meets the same transmission. */
export function stubClient(
  transmission: Transmission,
  dialect: GatewayDialect = standard(),
  over: Partial<GatewaySettings> = {},
  trouble?: GatewayTrouble,
) {
  const clock = new TestClock();
  const transport = new StubTransport(transmission);
  const settings: GatewaySettings = {
    account: 'default',
    dialect,
    credentials: CREDENTIALS,
    baseUrl: 'https://gateway.example',
    verifyAmount: 'notLess',
    verifySign: false,
    ...over,
  };
  const client = new GatewayClient(settings, transport as unknown as GatewayTransport, clock, trouble);
  const sale = sampleSale();
  const pay = (claim = OPEN_CLAIM) => client.charge('doPayment', sale, { expected: sale }, claim);
  return { clock, transport, client, pay };
}

export function standard(over: Partial<GatewayDialect> = {}): GatewayDialect {
  return { ...standardDialect({ signer: () => 'SIGN' }), ...over };
}

export function replied(body: unknown, status = 200): Transmission {
  return { sent: true, reply: { status, text: typeof body === 'string' ? body : JSON.stringify(body) } };
}

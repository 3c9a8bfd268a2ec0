import { type BinAnswer, GatewayClient } from '../../gateway/gateway-client.js';
import { GatewayTransport } from '../../gateway/transport/gateway-transport.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { SystemClock } from '../../payment/clock.js';
import { failed, type Finding, ok, skipped } from './finding.js';
import { isEmbeddedSimulator, type Patient } from './patient.js';

/** The BIN that the vendor's own plugins ask about in their connection test. */
const TEST_BIN = '402940';
const UNVERIFIED = '(CheckBin, unverified)';

/**
 * Whether the gateway takes the credentials: asks it about a BIN, which moves nothing and names no card, as the vendor's
 * own plugins do. That the answer means as much is unverified.
 */
export async function checkCredentials(
  patient: Patient,
  settings: PaymentSettings | null,
  isGatewayReached: boolean,
): Promise<Finding> {
  if (settings === null) return skipped('credentials', 'not tried: settings are wrong or missing');
  if (isEmbeddedSimulator(patient)) return skipped('credentials', 'not tried: the simulator has its own');
  if (!settings.dialect.operations.checkBin) {
    const why = `the dialect "${settings.dialect.name}" has no request that moves nothing`;
    return skipped('credentials', `not tried: ${why}`, 'The first payment will show.');
  }
  if (!isGatewayReached) return skipped('credentials', 'not tried: the gateway is not reached');
  return judge(await ask(settings, patient.limitMs), patient);
}

async function ask(settings: PaymentSettings, limitMs: number): Promise<BinAnswer | null> {
  const transport = new GatewayTransport({ timeoutMs: limitMs, connectTimeoutMs: limitMs, keepAliveMs: 0 });
  try {
    const conversationId = settings.dialect.newConversationId();
    const client = new GatewayClient(settings, transport, new SystemClock());
    return await client.checkBin({ conversationId, language: settings.language, bin: TEST_BIN });
  } finally {
    await transport.close();
  }
}

function judge(answer: BinAnswer | null, { variable }: Patient): Finding {
  if (!answer?.sent || answer.status === null) {
    return failed('credentials', `the gateway gave no answer ${UNVERIFIED}`, `See ${variable('baseUrl')}.`);
  }
  const { status, result } = answer;
  const code = result?.code ?? null;
  const words = [`HTTP ${status}`, code, result?.message].filter(Boolean).join(', ');
  if (status === 404 || status === 405 || result === null) {
    const advice = `Is ${variable('baseUrl')} the address of the service itself, and ${variable('dialect')} its dialect?`;
    return failed('credentials', `no such service answers there: ${words} ${UNVERIFIED}`, advice);
  }
  if (status < 300 && code === 'B0000') return ok('credentials', `taken ${UNVERIFIED}`);
  if (status >= 400 || code?.startsWith('RVV')) {
    const names = ['clientId', 'clientSecret', 'apiKey', 'merchantId', 'scope'].map(variable);
    return failed('credentials', `refused: ${words} ${UNVERIFIED}`, `Look at ${names.join(', ')}, and at the clock.`);
  }
  return skipped('credentials', `the answer is not clear: ${words} ${UNVERIFIED}`);
}

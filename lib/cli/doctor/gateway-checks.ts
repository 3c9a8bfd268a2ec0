import { type BinAnswer, GatewayClient } from '../../gateway/gateway-client.js';
import { GatewayTransport } from '../../gateway/transport/gateway-transport.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { SystemClock } from '../../payment/clock.js';
import type { PaymentStore } from '../../store/payment-store.js';
import {
  failed,
  type Finding,
  gatewayOf,
  isEmbeddedSimulator,
  isLocalGateway,
  ok,
  type DoctorTarget,
  skipped,
} from './doctor-check.js';
import { reachHost, type ReachStep, requestOnce, withinTime } from './reach-host.js';

const ADVICE: Readonly<Record<ReachStep, string>> = {
  DNS: 'Is the host in the base URL spelt right, and does this machine have a name server?',
  TCP: 'Are host and port of the base URL right? May this machine connect to it (firewall, allow-list of the gateway)?',
  TLS: 'Is the clock right? Is there a proxy in between? For a private authority, set NODE_EXTRA_CA_CERTS=FILE.',
};

/** Connects to the gateway over TLS. It sends no request. */
export async function checkGateway(target: DoctorTarget): Promise<Finding> {
  const name = target.variable('baseUrl');
  const url = gatewayOf(target);
  if (url === null) {
    const why = isEmbeddedSimulator(target)
      ? `${name} is the simulator inside the application, which no other process can reach`
      : `${name} is wrong or missing`;
    return skipped('gateway', `not tried: ${why}`);
  }
  const reach = await reachHost(url, target.limitMs);
  if (!reach.isReached) {
    const start = isLocalGateway(target) ? 'A simulator? Start it: npx nestjs-card-payment simulate. ' : '';
    const advice = `${start}${ADVICE[reach.step]} See ${name}.`;
    return failed('gateway', `${url.host} cannot be reached, ${reach.step} failed: ${reach.cause}`, advice);
  }
  const until = reach.certificateUntil?.toISOString().slice(0, 10);
  return ok(
    'gateway',
    `${url.host} is reached, ${reach.protocol}${until === undefined ? '' : `, certificate until ${until}`}`,
  );
}

/** A `Date` header has whole seconds only, and the answer takes some time. */
const MAX_OFFSET_MS = 5_000;

interface OtherClock {
  readonly of: string;
  /** How far it is ahead of ours, in milliseconds. */
  readonly offsetMs: number;
}

/** Compares this host's clock with the gateway's and the store's. */
export async function checkClock(
  target: DoctorTarget,
  { store, isGatewayReached }: { readonly store: PaymentStore | null; readonly isGatewayReached: boolean },
): Promise<readonly Finding[]> {
  const url = isGatewayReached ? gatewayOf(target) : null;
  const others = await Promise.all([
    url && compare("the gateway's", target, (signal) => dateOf(url, signal)),
    store && compare("the store's", target, () => store.now()),
  ]);
  const known = others.filter((other) => other !== null);
  if (known.length === 0) return [skipped('clock', 'not compared: neither the gateway nor the store gives the time')];
  const off = known.filter(({ offsetMs }) => Math.abs(offsetMs) > MAX_OFFSET_MS);
  if (off.length === 0) return [ok('clock', `agrees with ${known.map(({ of }) => of).join(' and ')}`)];
  const advice = 'Set the clock (NTP): requests carry the time of this host, and the gateway may refuse a wrong one.';
  return off.map(({ of, offsetMs }) => {
    const side = offsetMs > 0 ? 'behind' : 'ahead of';
    return failed('clock', `${Math.round(Math.abs(offsetMs) / 1000)} seconds ${side} ${of}`, advice);
  });
}

/** @returns null if it does not give the time */
async function compare(
  of: string,
  { limitMs }: DoctorTarget,
  ask: (signal: AbortSignal) => Promise<Date | null>,
): Promise<OtherClock | null> {
  try {
    const before = Date.now();
    const theirs = await withinTime(limitMs, ask);
    return theirs && { of, offsetMs: theirs.getTime() - (before + Date.now()) / 2 };
  } catch {
    return null;
  }
}

/** Every answer has the time, even a 404 for the root path. */
async function dateOf(url: URL, signal: AbortSignal): Promise<Date | null> {
  const at = await requestOnce(url, signal, ({ headers }) => Date.parse(String(headers['date'])));
  return Number.isNaN(at) ? null : new Date(at);
}

/** The BIN that the vendor's own plugins ask about in their connection test. */
const TEST_BIN = '402940';
const UNVERIFIED = '(CheckBin, unverified)';

/**
 * Checks that the gateway accepts the credentials: it asks about a BIN, as the vendor's own plugins do, which moves no
 * money and names no card. Whether the answer proves it is unverified.
 */
export async function checkCredentials(
  target: DoctorTarget,
  settings: PaymentSettings | null,
  isGatewayReached: boolean,
): Promise<Finding> {
  if (settings === null) return skipped('credentials', 'not tried: settings are wrong or missing');
  if (isEmbeddedSimulator(target)) return skipped('credentials', 'not tried: the simulator has its own');
  if (!settings.dialect.operations.checkBin) {
    const why = `the dialect "${settings.dialect.name}" has no request that could be sent without moving money`;
    return skipped('credentials', `not tried: ${why}`, 'The first payment will show whether they are right.');
  }
  if (!isGatewayReached) return skipped('credentials', 'not tried: the gateway cannot be reached');
  return judge(await ask(settings, target.limitMs), target);
}

async function ask(settings: PaymentSettings, limitMs: number): Promise<BinAnswer | null> {
  const transport = new GatewayTransport({ timeoutMs: limitMs, connectTimeoutMs: limitMs, keepAliveMs: 0 });
  try {
    const conversationId = settings.dialect.newConversationId();
    const client = new GatewayClient(settings, transport, new SystemClock());
    const question = { conversationId, language: settings.language, bin: TEST_BIN, amount: null, currencyCode: null };
    return await client.checkBin(question, limitMs, settings.amountFormat);
  } finally {
    await transport.close();
  }
}

function judge(answer: BinAnswer | null, { variable }: DoctorTarget): Finding {
  if (!answer?.sent || answer.status === null) {
    return failed('credentials', `the gateway gave no answer ${UNVERIFIED}`, `See ${variable('baseUrl')}.`);
  }
  const { status, result } = answer;
  const code = result?.code ?? null;
  const words = [`HTTP ${status}`, code, result?.message].filter(Boolean).join(', ');
  if (status === 404 || status === 405 || result === null) {
    const advice = `Is ${variable('baseUrl')} the address of the service itself, and ${variable('dialect')} its dialect?`;
    return failed('credentials', `this service is not at that address: ${words} ${UNVERIFIED}`, advice);
  }
  if (status < 300 && code === 'B0000') return ok('credentials', `accepted ${UNVERIFIED}`);
  if (status >= 400 || code?.startsWith('RVV')) {
    const names = ['clientId', 'clientSecret', 'apiKey', 'merchantId', 'scope'].map(variable);
    return failed('credentials', `refused: ${words} ${UNVERIFIED}`, `Look at ${names.join(', ')}, and at the clock.`);
  }
  return skipped('credentials', `the answer is not clear: ${words} ${UNVERIFIED}`);
}

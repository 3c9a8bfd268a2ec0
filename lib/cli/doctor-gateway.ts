import { newConversationIdOf } from '../operations/opening.js';
import { type BinAnswer, GatewayClient } from '../gateway/gateway-client.js';
import { GatewayTrouble } from '../gateway/gateway-trouble.js';
import { GatewayTransport } from '../gateway/transport/gateway-transport.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { SystemClock } from '../runtime/clock.js';
import type { PaymentStore } from '../store/payment-store.js';
import { causeOf, requestOnce, withinTime } from './doctor-requests.js';
import { type DoctorTarget, failed, type Finding, ok, skipped } from './doctor-settings.js';

/** What is found out by asking the gateway. */
export interface GatewayCheck {
  readonly gateway: Finding;
  readonly credentials: Finding;
  /** Null if the gateway does not give the time. */
  readonly clock: OtherClock | null;
}

/** How far another clock is ahead of ours. */
interface OtherClock {
  readonly of: string;
  readonly offsetMs: number;
}

/** What did not work, and what to do about it, if anything is known. */
interface Trouble {
  readonly message: string;
  readonly advice: string;
}

/**
 * Asks the gateway for its root path, and about a BIN if the dialect can: a real request, with the credentials, over
 * the transport of payments. Neither moves money.
 *
 * @param settings null if they are wrong, or if the credentials are not to be tried
 */
export async function checkGateway(target: DoctorTarget, settings: PaymentSettings | null): Promise<GatewayCheck> {
  const name = target.variable('baseUrl');
  const { gateway: url, isSimulated } = target;
  if (url === null) {
    const why = isSimulated
      ? `${name} is the simulator inside the application, which no other process can reach`
      : `${name} is wrong or missing`;
    const gateway = skipped(`not tried: ${why}`);
    return { gateway, credentials: untried(target, settings), clock: null };
  }
  const [root, bin] = await Promise.all([
    askForRoot(url, target),
    settings?.dialect.operations.checkBin ? askAboutBin(settings, target.limitMs) : null,
  ]);
  const { trouble } = bin ?? root;
  return {
    gateway: trouble ? unreached(target, trouble) : ok(`${url.host} is reached`),
    credentials: bin ? judge(bin.answer, target) : untried(target, settings),
    clock: root.clock,
  };
}

function unreached(target: DoctorTarget, { message, advice }: Trouble): Finding {
  const start = target.isLocal ? 'A simulator? Start it: npx nestjs-card-payment simulate. ' : '';
  return failed(message, start + (advice || `See ${target.variable('baseUrl')}.`));
}

/** Every answer has the time, even a 404 for the root path. */
async function askForRoot(
  url: URL,
  { limitMs }: DoctorTarget,
): Promise<{ readonly trouble: Trouble | null; readonly clock: OtherClock | null }> {
  try {
    const clock = await compare("the gateway's", limitMs, async (signal) => (await requestOnce(url, signal)).date);
    return { trouble: null, clock };
  } catch (error) {
    return { trouble: { message: `${url.host} cannot be reached (${causeOf(error)})`, advice: '' }, clock: null };
  }
}

/** The BIN that the vendor's own plugins ask about in their connection test. */
const TEST_BIN = '402940';
const UNVERIFIED = '(CheckBin, unverified)';

/**
 * Asks about a BIN, as the vendor's own plugins do to test the credentials: it names no card. Whether the answer proves
 * them is unverified. `trouble` is null if there was an answer.
 */
async function askAboutBin(
  settings: PaymentSettings,
  limitMs: number,
): Promise<{ readonly trouble: Trouble | null; readonly answer: BinAnswer | null }> {
  const transport = new GatewayTransport({ timeoutMs: limitMs, connectTimeoutMs: limitMs, keepAliveMs: 0 });
  const clock = new SystemClock();
  const log = new TroubleNote(settings.account, settings, clock);
  try {
    const client = new GatewayClient(settings, transport, clock, log);
    const conversationId = newConversationIdOf(settings.dialect);
    const question = { conversationId, language: settings.language, bin: TEST_BIN, amount: null, currencyCode: null };
    const answer = await client.checkBin(question, limitMs, settings.amountFormat);
    return { trouble: isAnswered(answer) ? null : log.trouble, answer };
  } finally {
    await transport.close();
  }
}

/** Keeps what the application would log about a request. */
class TroubleNote extends GatewayTrouble {
  trouble: Trouble = { message: 'the gateway gave no answer', advice: '' };

  protected override error(_kind: string, line: string): void {
    // The line names the cause in brackets, then says what to do.
    const [message = '', ...advice] = line.split(/(?<=\)\.) /);
    this.trouble = { message, advice: advice.join(' ') };
  }
}

function isAnswered(answer: BinAnswer | null): answer is BinAnswer & { readonly sent: true; readonly status: number } {
  return answer?.sent === true && answer.status !== null;
}

/** Why the credentials were not tried. */
function untried(target: DoctorTarget, settings: PaymentSettings | null): Finding {
  if (settings === null) return skipped('not tried: settings are wrong or missing');
  if (target.isSimulated) return skipped('not tried: the simulator has its own');
  const why = `the dialect "${settings.dialect.name}" has no request that could be sent without moving money`;
  return skipped(`not tried: ${why}`, 'The first payment will show whether they are right.');
}

function judge(answer: BinAnswer | null, { variable }: DoctorTarget): Finding {
  if (!isAnswered(answer)) return skipped('not known: the gateway gave no answer');
  const { status, result } = answer;
  const code = result?.code ?? null;
  const words = [`HTTP ${status}`, code, result?.message].filter(Boolean).join(', ');
  if (status === 404 || status === 405 || result === null) {
    const advice = `Is ${variable('baseUrl')} the address of the service itself, and ${variable('dialect')} its dialect?`;
    return failed(`this service is not at that address: ${words} ${UNVERIFIED}`, advice);
  }
  if (status < 300 && code === 'B0000') return ok(`accepted ${UNVERIFIED}`);
  if (status >= 400 || code?.startsWith('RVV')) {
    const names = ['clientId', 'clientSecret', 'apiKey', 'merchantId', 'scope'].map(variable);
    return failed(`refused: ${words} ${UNVERIFIED}`, `Look at ${names.join(', ')}, and at the clock.`);
  }
  return skipped(`the answer is not clear: ${words} ${UNVERIFIED}`);
}

/** A `Date` header has whole seconds only, and the answer takes some time. */
const MAX_OFFSET_MS = 5_000;

/** Compares this host's clock with the gateway's and the store's. */
export async function checkClock(
  { limitMs }: DoctorTarget,
  gateway: OtherClock | null,
  store: PaymentStore | null,
): Promise<readonly Finding[]> {
  const ofStore = store && (await compare("the store's", limitMs, () => store.now()).catch(() => null));
  const known = [gateway, ofStore].filter((other) => other !== null);
  if (known.length === 0) return [skipped('not compared: neither the gateway nor the store gives the time')];
  const off = known.filter(({ offsetMs }) => Math.abs(offsetMs) > MAX_OFFSET_MS);
  if (off.length === 0) return [ok(`agrees with ${known.map(({ of }) => of).join(' and ')}`)];
  const advice = 'Set the clock (NTP): requests carry the time of this host, and the gateway may refuse a wrong one.';
  return off.map(({ of, offsetMs }) => {
    const side = offsetMs > 0 ? 'behind' : 'ahead of';
    return failed(`${Math.round(Math.abs(offsetMs) / 1000)} seconds ${side} ${of}`, advice);
  });
}

/** @returns null if it does not give the time */
async function compare(
  of: string,
  limitMs: number,
  ask: (signal: AbortSignal) => Promise<Date>,
): Promise<OtherClock | null> {
  const before = Date.now();
  const theirs = (await withinTime(limitMs, ask)).getTime();
  return Number.isNaN(theirs) ? null : { of, offsetMs: theirs - (before + Date.now()) / 2 };
}

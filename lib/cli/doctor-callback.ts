import { PAGE_TEXTS } from '../http/pages.js';
import { routeOf } from '../options/payment-options.js';
import { isLoopback } from '../runtime/network.js';
import { causeOf, requestOnce, withinTime } from './doctor-requests.js';
import { type DoctorTarget, failed, type Finding, ok, skipped } from './doctor-settings.js';

/** This is not a token, so the callback is refused before anything is looked up. */
const NO_TOKEN = 'doctor';
const MAX_PAGE_BYTES = 1_048_576;
const TITLES: readonly string[] = Object.values(PAGE_TEXTS.refused).map(({ title }) => title);

/**
 * Checks that the callback controller answers at its public address: it sends a callback for no payment, which the
 * controller refuses with a page that is recognised here.
 * @param given the address of the controller, instead of the one that the variables give
 */
export async function checkCallbackAddress(target: DoctorTarget, given: string | undefined): Promise<Finding> {
  const { values, variable, limitMs, gateway, isSimulated, isLocal } = target;
  const { returnUrl, failUrl } = values;
  if (given === undefined && returnUrl && failUrl) {
    const names = `${variable('returnUrl')} and ${variable('failUrl')}`;
    return skipped(`not tried: buyers come back to addresses of your own (${names})`);
  }
  const address = callbackAddress(target, given);
  if (address === null && isSimulated) {
    const why = 'with the simulator inside the application, buyers come back to wherever it listens';
    return skipped(`not tried: ${why}`);
  }
  if (address === null) {
    return skipped(`not tried: neither ${variable('publicUrl')} nor ${variable('callbackUrl')} is right`);
  }
  if (gateway && !isLocal && isLoopback(new URL(address).hostname)) {
    const advice = `Set ${variable('publicUrl')} to the https address of the shop.`;
    return failed(`${address} is this machine: buyers of a real gateway cannot come back to it`, advice);
  }
  try {
    return await withinTime(limitMs, (signal) => ask(address, target, signal));
  } catch (error) {
    const cause = causeOf(error);
    const unreached = `${address} cannot be reached (${cause})`;
    // On a developer's machine, the application may not have been started yet.
    if (cause === 'ECONNREFUSED' && isLoopback(new URL(address).hostname) && (isLocal || isSimulated)) {
      return skipped(unreached, 'Is the application running? Start it, and run this again.');
    }
    const elsewhere = 'From inside some networks a public address cannot be reached; then check it from elsewhere.';
    return failed(unreached, `Is the application running? ${elsewhere}`);
  }
}

/** Where the callback controller answers; null if the variables do not say. */
function callbackAddress(
  { values: { callbackUrl, publicUrl }, name }: DoctorTarget,
  given: string | undefined,
): string | null {
  if (given !== undefined) return given.replace(/(?<!\/)\/+$/, '');
  if (callbackUrl) return callbackUrl;
  return publicUrl ? `${publicUrl}/${routeOf({ name }).path}` : null;
}

async function ask(address: string, { variable }: DoctorTarget, signal: AbortSignal): Promise<Finding> {
  const { status, text: page } = await requestOnce(`${address}/${NO_TOKEN}/return`, signal, MAX_PAGE_BYTES);
  if (status === 404 && TITLES.includes(titleIn(page))) return ok(`${address} is answered by this module`);
  if (status === 401 || status === 403) {
    const advice = 'Does a guard or a proxy stand in the way? `callback.decorators` marks the controller public.';
    return failed(`${address} answers ${status}`, advice);
  }
  if (status === 404) {
    const advice =
      `Does a global prefix, a path or a proxy lead elsewhere? Set ${variable('callbackUrl')} to where the controller ` +
      'answers, or try an address with --callback URL.';
    return failed(`${address} answers 404, but it is not this module that does`, advice);
  }
  return failed(`${address} answers ${status}, not as this module does`, 'What answers there?');
}

function titleIn(page: string): string {
  return /<title>([^<]*)<\/title>/.exec(page)?.[1] ?? '';
}

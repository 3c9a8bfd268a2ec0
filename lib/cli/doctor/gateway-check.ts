import { failed, type Finding, ok, skipped } from './finding.js';
import { gatewayOf, isEmbeddedSimulator, isLocalGateway, type Patient } from './patient.js';
import { type ReachStep, reachHost } from './reach-host.js';

const ADVICE: Readonly<Record<ReachStep, string>> = {
  DNS: 'Is the host in the base URL spelt right, and does this machine have a name server?',
  TCP: 'Is the base URL right, port included? May this machine go there (firewall, allow-list of the gateway)?',
  TLS: 'Is the clock right, or does something stand in between? A private authority: NODE_EXTRA_CA_CERTS=FILE.',
};

/** Whether the gateway is reached over TLS. Sends no request. */
export async function checkGateway(patient: Patient): Promise<Finding> {
  const name = patient.variable('baseUrl');
  const url = gatewayOf(patient);
  if (url === null) {
    const why = isEmbeddedSimulator(patient)
      ? `${name} is the simulator inside the application, which nobody else can reach`
      : `${name} is wrong or missing`;
    return skipped('gateway', `not looked for: ${why}`);
  }
  const reach = await reachHost(url, patient.limitMs);
  if (!reach.isReached) {
    const start = isLocalGateway(patient) ? 'A simulator? Start it: npx nestjs-card-payment simulate. ' : '';
    const advice = `${start}${ADVICE[reach.step]} See ${name}.`;
    return failed('gateway', `${url.host} is not reached, ${reach.step} fails: ${reach.cause}`, advice);
  }
  const until = reach.certificateUntil?.toISOString().slice(0, 10);
  return ok(
    'gateway',
    `${url.host} is reached, ${reach.protocol}${until === undefined ? '' : `, certificate until ${until}`}`,
  );
}

import { isSimulatorDialect, SIMULATED_DIALECTS } from '../simulator/simulator-options.js';
import { describeSimulator, type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.js';
import { type Run, UsageError, wholeNumber } from './command.js';

const DIALECTS = Object.keys(SIMULATED_DIALECTS);

/** Starts the simulator; it runs until the process is told to stop. */
export const simulate: Run = async (call) => {
  const { host = '127.0.0.1', 'public-url': publicUrl, dialect = 'morpos' } = call.options;
  const port = wholeNumber(call, 'port', { min: 0, max: 65_535, byDefault: 4010 });
  if (!isSimulatorDialect(dialect)) throw new UsageError(`--dialect takes ${DIALECTS.join(' or ')}.`);
  if (publicUrl !== undefined && !isWebUrl(publicUrl)) {
    throw new UsageError('--public-url takes an address such as http://192.168.1.5:4010.');
  }
  const simulator = await start({ port, host, publicUrl, dialect, keepsProcessAlive: true });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.close());
  return { text: describeSimulator(simulator) + reachedFromElsewhere(simulator, host), staysUp: true };
};

/** @throws UsageError where it cannot listen there */
async function start(options: SimulatorOptions): Promise<Simulator> {
  try {
    return await startSimulator(options);
  } catch (error) {
    const { port, host } = options;
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `Port ${port} of ${host} cannot be opened (${code}): choose another with --port (0 takes any free port), or an ` +
        'address of this machine with --host (0.0.0.0 means all of them).',
    );
  }
}

/** For a simulator that listens on all addresses, so that a phone or a browser outside a container can reach it. */
function reachedFromElsewhere({ port, url, publicUrl }: Simulator, host: string): string {
  if ((host !== '0.0.0.0' && host !== '::') || publicUrl !== url) return '';
  return `
The bank's pages are at ${url}, where browsers on this machine find them. For another device, or where the port is
published under another address, give the address that buyers use: --public-url http://192.168.1.5:${port}
`;
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

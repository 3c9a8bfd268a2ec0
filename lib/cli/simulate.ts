import { networkInterfaces } from 'node:os';
import { isSimulatorDialect, SIMULATED_DIALECTS } from '../simulator/simulator-options.js';
import { describeSimulator, type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.js';
import { type Run, UsageError } from './command.js';

const DIALECTS = Object.keys(SIMULATED_DIALECTS);

/** Starts the simulator; it runs until the process is told to stop. */
export const simulate: Run = async ({ options }) => {
  const { port = '4010', host = '127.0.0.1', 'public-url': publicUrl, dialect = 'morpos' } = options;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError('--port takes a number up to 65535.');
  if (!isSimulatorDialect(dialect)) {
    throw new UsageError(`--dialect takes ${DIALECTS.join(' or ')}.`);
  }
  if (publicUrl !== undefined && !isWebUrl(publicUrl)) {
    throw new UsageError('--public-url takes an address such as http://192.168.1.5:4010.');
  }
  const simulator = await start({ port: Number(port), host, publicUrl, dialect, keepsProcessAlive: true });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.close());
  return { text: describeSimulator(simulator) + reachedFromElsewhere(simulator, host), staysUp: true };
};

async function start(options: SimulatorOptions): Promise<Simulator> {
  try {
    return await startSimulator(options);
  } catch (error) {
    const { port, host } = options;
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EADDRINUSE':
        throw new UsageError(`Port ${port} of ${host} is in use; choose another with --port (0 takes any free port).`);
      case 'EACCES':
        throw new UsageError(`Port ${port} is privileged; choose one from 1024 up with --port.`);
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        throw new UsageError(`--host ${host} is not an address of this machine; 0.0.0.0 means all of them.`);
      default:
        throw new UsageError(`Port ${port} of ${host} cannot be opened; choose others with --port and --host.`);
    }
  }
}

/** For a simulator that listens on all addresses, so that a phone or a browser outside a container can reach it. */
function reachedFromElsewhere({ port, url, publicUrl }: Simulator, host: string): string {
  if ((host !== '0.0.0.0' && host !== '::') || publicUrl !== url) return '';
  const addresses = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address?.family === 'IPv4' && !address.internal)
    .map((address) => `--public-url http://${address?.address}:${port}`);
  const example = addresses[0] ?? `--public-url http://192.168.1.5:${port}`;
  return `
The bank's pages are at ${url}, where browsers on this machine find them. For another device, or where the port is
published under another address, give the address that buyers use:
  ${[...new Set([example, ...addresses])].join('\n  ')}
`;
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

import { networkInterfaces } from 'node:os';
import { parseArgs } from 'node:util';
import { isSimulatorDialect, SIMULATED_DIALECTS } from '../simulator/dialects/dialects.js';
import { describeSimulator, type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.js';
import { parsed, UsageError } from './usage.error.js';

/** Starts the simulator; it runs until the process is told to stop. */
export async function simulateCommand(words: string[]): Promise<string> {
  const { values } = parsed(() =>
    parseArgs({
      args: words,
      options: {
        port: { type: 'string', default: '4010' },
        host: { type: 'string', default: '127.0.0.1' },
        'public-url': { type: 'string' },
        dialect: { type: 'string', default: 'morpos' },
      },
    }),
  );
  const { port, host, 'public-url': publicUrl, dialect } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError('--port takes a number up to 65535.');
  if (!isSimulatorDialect(dialect)) {
    throw new UsageError(`--dialect takes ${Object.keys(SIMULATED_DIALECTS).join(' or ')}.`);
  }
  if (publicUrl !== undefined && !isWebUrl(publicUrl)) {
    throw new UsageError('--public-url takes an address such as http://192.168.1.5:4010.');
  }
  const simulator = await start({ port: Number(port), host, publicUrl, dialect, keepsProcessAlive: true });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.close());
  return describeSimulator(simulator) + reachedFromElsewhere(simulator, host);
}

async function start(options: SimulatorOptions): Promise<Simulator> {
  try {
    return await startSimulator(options);
  } catch (error) {
    const { port, host } = options;
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EADDRINUSE':
        throw new UsageError(`Port ${port} of ${host} is in use; choose another with --port (0: any that is free).`);
      case 'EACCES':
        throw new UsageError(`Port ${port} needs a privilege; choose one from 1024 on with --port.`);
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        throw new UsageError(`--host ${host} is no address of this machine; 0.0.0.0 is all of them.`);
      default:
        throw new UsageError(`Port ${port} of ${host} cannot be opened; choose others with --port and --host.`);
    }
  }
}

/** For whoever listens on all addresses for the sake of a phone, or of a browser outside a container. */
function reachedFromElsewhere({ port, url, publicUrl }: Simulator, host: string): string {
  if ((host !== '0.0.0.0' && host !== '::') || publicUrl !== url) return '';
  const addresses = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address?.family === 'IPv4' && !address.internal)
    .map((address) => `--public-url http://${address?.address}:${port}`);
  const example = addresses[0] ?? `--public-url http://192.168.1.5:${port}`;
  return `
The bank's pages are at ${url}, where browsers on this machine find them. For another device, or where the port is
published under another address, say how buyers reach it:
  ${[...new Set([example, ...addresses])].join('\n  ')}
`;
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

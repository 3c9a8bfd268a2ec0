import { parseArgs } from 'node:util';
import { isSimulatorDialect, SIMULATED_DIALECTS } from '../simulator/dialects/dialects.js';
import { describeSimulator, startSimulator } from '../simulator/index.js';
import { parsed, UsageError } from './usage.error.js';

/** Starts the simulator; it runs until the process is told to stop. */
export async function simulateCommand(words: string[]): Promise<string> {
  const { values } = parsed(() =>
    parseArgs({
      args: words,
      options: { port: { type: 'string', default: '4010' }, dialect: { type: 'string', default: 'morpos' } },
    }),
  );
  const { port, dialect } = values;
  if (!/^\d{1,5}$/.test(port)) throw new UsageError('--port takes a number.');
  if (!isSimulatorDialect(dialect)) {
    throw new UsageError(`--dialect takes ${Object.keys(SIMULATED_DIALECTS).join(' or ')}.`);
  }
  const simulator = await startSimulator({ port: Number(port), dialect }).catch(() => {
    throw new UsageError(`Port ${port} cannot be opened; choose another with --port.`);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.close());
  return describeSimulator(simulator);
}

import { isSimulatorDialect, SIMULATED_DIALECTS } from '../simulator/dialects/dialects.js';
import { describeSimulator, startSimulator } from '../simulator/index.js';
import { command } from './command.js';
import { UsageError } from './usage.error.js';

const DIALECTS = Object.keys(SIMULATED_DIALECTS);

/** Starts the simulator; it runs until the process is told to stop. */
export const simulateCommand = command({
  name: 'simulate',
  summary: 'Starts a gateway and a bank to try payments against. Takes no real card.',
  words: [],
  options: {
    port: { type: 'string', value: 'PORT', about: '4010 by default; 0 is any free one.' },
    host: { type: 'string', value: 'HOST', about: 'The address to listen on; 127.0.0.1 by default.' },
    dialect: { type: 'string', value: DIALECTS.join('|'), about: 'How it speaks; morpos by default.' },
  },
  async run({ values: { port = '4010', host, dialect = 'morpos' } }) {
    if (!/^\d{1,5}$/.test(port)) throw new UsageError('--port takes a number.');
    if (!isSimulatorDialect(dialect)) {
      throw new UsageError(`--dialect takes ${DIALECTS.join(' or ')}.`);
    }
    const simulator = await startSimulator({ port: Number(port), host, dialect }).catch(() => {
      throw new UsageError(`Port ${port} cannot be opened; choose another with --port.`);
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.close());
    return { text: describeSimulator(simulator), staysUp: true };
  },
});

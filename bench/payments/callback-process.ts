// One subject that takes the bank's callbacks, in a process of its own.
import { serveTasks } from '../../test/rigs/tasks.mjs';
import type { Callback, SubjectSetup } from './caller.js';
import { cpuSince } from './figures.js';
import { repeat } from './repeat.js';
import { subjectNamed } from './subjects.js';

const OPENED_AT_ONCE = 16;

const { name, setup } = JSON.parse(process.argv[2]!) as { name: string; setup: SubjectSetup };
const subject = subjectNamed(name);
if (subject.measures !== 'callbacks') throw new Error(`${name} takes no callbacks`);
const server = await subject.start(setup);
let began = process.cpuUsage();

serveTasks({
  /** Starts that many 3D payments. */
  open: async (count: number): Promise<Callback[]> => {
    const opened: Callback[] = [];
    const open = async (number: number): Promise<void> => void opened.push(await server.open(number));
    await repeat(open, { from: 0, count, atOnce: OPENED_AT_ONCE });
    return opened;
  },
  begin: (): null => {
    globalThis.gc?.();
    began = process.cpuUsage();
    return null;
  },
  /** CPU in µs per callback since `begin`. */
  cpu: (callbacks: number): number => cpuSince(began, callbacks),
  end: () => server.close(),
});

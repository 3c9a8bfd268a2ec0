// One subject that calls the gateway, in a process of its own.
import { serveTasks } from '../../test/rigs/tasks.mjs';
import type { SubjectSetup } from './caller.js';
import { cpuSince, type Figures, latencyOf, type Load } from './figures.js';
import { repeat } from './repeat.js';
import { subjectNamed } from './subjects.js';

const { name, setup } = JSON.parse(process.argv[2]!) as { name: string; setup: SubjectSetup };
const subject = subjectNamed(name);
if (subject.measures !== 'calls') throw new Error(`${name} makes no calls`);
const caller = await subject.start(setup);
const call = (number: number): Promise<void> => caller.call(number);

serveTasks({
  measure: async ({ warmUp, calls, atOnce }: Load): Promise<Figures> => {
    await repeat(call, { from: 0, count: warmUp, atOnce });
    await caller.settled?.();
    globalThis.gc?.();
    const [cpu, began] = [process.cpuUsage(), performance.now()];
    const took = await repeat(call, { from: warmUp, count: calls, atOnce });
    await caller.settled?.();
    const wall = ((performance.now() - began) * 1000) / calls;
    return { cpu: cpuSince(cpu, calls), wall, latency: latencyOf(took) };
  },
  end: () => caller.close(),
});

import { TaskProcess } from '../../test/rigs/task-process.js';
import type { Callback, SubjectSetup } from './caller.js';
import type { Figures, Load } from './figures.js';
import type { Subject } from './subjects.js';

/** A process of the bench. */
export function forkScript(script: string, setup: unknown = null): Promise<TaskProcess> {
  const env = { ...process.env, NODE_ENV: 'production' };
  return TaskProcess.fork(new URL(script, import.meta.url), setup, { execArgv: ['--expose-gc'], env });
}

/** Measures a subject once, in a process that is made for it. */
export function runSubject(subject: Subject, setup: SubjectSetup, load: Load): Promise<Figures> {
  return subject.measures === 'calls' ? runCalls(subject, setup, load) : runCallbacks(subject, setup, load);
}

async function runCalls({ name }: Subject, setup: SubjectSetup, load: Load): Promise<Figures> {
  const caller = await forkScript('call-process.ts', { name, setup });
  try {
    return await caller.ask<Figures>('measure', load);
  } finally {
    await caller.end();
  }
}

async function runCallbacks({ name }: Subject, setup: SubjectSetup, load: Load): Promise<Figures> {
  const { warmUp, calls, atOnce } = load;
  const server = await forkScript('callback-process.ts', { name, setup });
  const bank = await forkScript('bank-process.ts');
  try {
    const opened = await server.ask<Callback[]>('open', warmUp + calls);
    await bank.ask('post', { callbacks: opened.slice(0, warmUp), atOnce });
    await server.ask('begin');
    const posted = await bank.ask<Omit<Figures, 'cpu'>>('post', { callbacks: opened.slice(warmUp), atOnce });
    return { ...posted, cpu: await server.ask<number>('cpu', calls) };
  } finally {
    await bank.end();
    await server.end();
  }
}

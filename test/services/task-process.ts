import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';

/** A process of a test's own that does one task after the other: its script ends with `serveTasks` of `tasks.mjs`. */
export class TaskProcess {
  private constructor(private readonly child: ChildProcess) {}

  /** @param setup what the script reads as JSON from its first argument */
  static async fork(script: URL, setup: unknown, options: ForkOptions = {}): Promise<TaskProcess> {
    const started = new TaskProcess(fork(script, [JSON.stringify(setup)], options));
    await answerOf(started.child);
    return started;
  }

  /** The system's number of the process. */
  get pid(): number {
    return this.child.pid!;
  }

  /** Rejects with what the task threw, or when the process ends before it has answered. */
  ask<T>(task: string, input?: unknown): Promise<T> {
    this.child.send({ task, input });
    return answerOf<T>(this.child);
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.send({ task: 'end' });
    await exit;
  }
}

/** The next answer of a process. Rejects with what its task threw, or when the process ends before it has answered. */
export function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void): void => {
      child.off('message', onMessage).off('exit', onExit);
      settle();
    };
    const onMessage = ({ output, error }: { output: T; error?: string }): void =>
      done(() => (error === undefined ? resolve(output) : reject(new Error(error))));
    const onExit = (code: number | null): void => done(() => reject(new Error(`a process ended with ${code}`)));
    child.on('message', onMessage).on('exit', onExit);
  });
}

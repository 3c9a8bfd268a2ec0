import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TimeoutError, withTimeout } from '../../lib/runtime/clock.js';
import { built } from './built.js';

const TYPESCRIPT = new URL('../../bench/typescript.mjs', import.meta.url).href;
const TYPESCRIPT_ARGV = ['--disable-warning=ExperimentalWarning', '--import', TYPESCRIPT];
/** So long that only a process that hangs reaches these. */
const MAX_START_MS = 300_000;
const MAX_TASK_MS = 600_000;
/** Handlers, payments in flight and owed writes have limits of their own, one after the other. */
const MAX_END_MS = 120_000;
const MAX_RESOURCES_MS = 10_000;

interface Answer {
  /** The task that is answered; 0 once the process is ready. */
  readonly number: number;
  readonly output?: unknown;
  readonly error?: string;
}

/** The tasks that a script serves, as they are from outside its process. */
export type AskedTasks<Tasks> = {
  readonly [Name in keyof Tasks]: Tasks[Name] extends (...input: infer Input) => infer Output
    ? (...input: Input) => Promise<Awaited<Output>>
    : never;
};

/** A process that a test starts, asks for tasks, and ends or kills. Its script calls `serveTasks` of `tasks.mjs`. */
export class TaskProcess {
  /** Its exit code, or the signal that ended it. */
  readonly exit: Promise<readonly [number | null, NodeJS.Signals | null]>;
  /** The last lines that it wrote to stderr. */
  errors = '';
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private tasks = 0;

  private constructor(private readonly child: ChildProcess) {
    // By then all that it wrote has been read.
    this.exit = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    child.on('message', (answer: Answer) => this.waiting.get(answer.number)?.(answer));
    child.stderr?.on('data', (chunk: Buffer) => (this.errors = (this.errors + chunk.toString()).slice(-2_000)));
  }

  /**
   * Resolves once the process is ready. When it ends before that, this rejects.
   *
   * @param setup what the script reads as JSON from its first argument
   */
  static async fork(
    script: URL | string,
    setup: unknown,
    options: Omit<ForkOptions, 'stdio'> = {},
  ): Promise<TaskProcess> {
    built();
    const path = typeof script === 'string' ? script : fileURLToPath(script);
    const execArgv = path.endsWith('.ts') ? [...TYPESCRIPT_ARGV, ...(options.execArgv ?? [])] : options.execArgv;
    const stdio: ForkOptions['stdio'] = ['ignore', 'inherit', 'pipe', 'ipc'];
    const forked = fork(path, [JSON.stringify(setup)], { ...options, stdio, ...(execArgv && { execArgv }) });
    const started = new TaskProcess(forked);
    try {
      await started.answerTo(0, 'start', MAX_START_MS);
      return started;
    } catch (error) {
      await started.kill();
      throw error;
    }
  }

  /** The tasks of its script as methods, each with one input at most. `end` is {@link end}. */
  as<Tasks extends object>(): AskedTasks<Tasks> {
    const ask = (name: string) => (name === 'end' ? () => this.end() : (input?: unknown) => this.ask(name, input));
    // A promise of it must not take it for a promise.
    return new Proxy({} as AskedTasks<Tasks>, {
      get: (_tasks, name) => (name === 'then' ? undefined : ask(String(name))),
    });
  }

  /** The system's number of the process. */
  get pid(): number {
    return this.child.pid!;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Rejects with what the task threw, and when the process ends, or the time is up, before it has answered. */
  ask<T>(task: string, input?: unknown, limitMs = MAX_TASK_MS): Promise<T> {
    this.tasks += 1;
    const number = this.tasks;
    const answer = this.answerTo<T>(number, task, limitMs);
    // Where the process is gone, the answer says so.
    this.child.send({ number, task, input }, () => undefined);
    return answer;
  }

  /**
   * Asks for the task `end`, and waits until the process has ended. When it does not end in time, it is killed, and
   * this rejects with what it held.
   */
  async end(): Promise<void> {
    if (!this.isRunning) return;
    try {
      await this.ask('end', undefined, MAX_END_MS);
      await withTimeout(MAX_END_MS, () => this.exit);
    } catch (error) {
      const held = await this.ask<string[]>('resources', undefined, MAX_RESOURCES_MS).catch(() => ['nothing known']);
      throw new Error(`${String(error)}; it held ${held.join(', ')}`, { cause: error });
    } finally {
      await this.kill();
    }
  }

  async kill(): Promise<void> {
    if (this.isRunning) this.child.kill('SIGKILL');
    await this.exit;
  }

  private answerTo<T>(number: number, task: string, limitMs: number): Promise<T> {
    const answer = new Promise<T>((resolve, reject) => {
      this.waiting.set(number, ({ output, error }) =>
        error === undefined ? resolve(output as T) : reject(new Error(error)),
      );
      void this.exit.then(([code, signal]) =>
        reject(new Error(`${task}: the process ended with ${code ?? signal}. ${this.errors}`)),
      );
    });
    return withTimeout(limitMs, () => answer)
      .catch((error) => {
        throw error instanceof TimeoutError
          ? new Error(`${task}: the process did not answer within ${limitMs} ms`)
          : error;
      })
      .finally(() => this.waiting.delete(number));
  }
}

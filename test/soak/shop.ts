import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ShopAnswer, ShopSetup, ShopTaskName, ShopTasks } from './shop-tasks.js';

const SCRIPT = fileURLToPath(new URL('shop-process.ts', import.meta.url));
const TYPESCRIPT = new URL('../../bench/typescript.mjs', import.meta.url).href;
const MAX_START_MS = 60_000;
const MAX_TASK_MS = 60_000;
/** Handlers, payments in flight and owed writes have limits of their own, one after the other. */
const MAX_END_MS = 120_000;

/** A process of the shop, seen from outside. */
export class Shop {
  private readonly waiting = new Map<number, (answer: ShopAnswer) => void>();
  private readonly exit: Promise<unknown>;
  private tasks = 0;
  private isWanted = true;
  private errors = '';
  url = '';

  private constructor(
    private readonly child: ChildProcess,
    readonly setup: ShopSetup,
  ) {
    this.exit = once(child, 'exit');
    child.on('message', (answer: ShopAnswer) => this.waiting.get(answer.number)?.(answer));
    child.stderr?.on('data', (chunk: Buffer) => (this.errors = (this.errors + chunk.toString()).slice(-2_000)));
  }

  /** Resolves when it takes payments. Rejects when it ends before that, as it does while the store is away. */
  static async start(setup: ShopSetup): Promise<Shop> {
    const execArgv = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--import', TYPESCRIPT];
    const stdio = ['ignore', 'inherit', 'pipe', 'ipc'] as const;
    const shop = new Shop(fork(SCRIPT, [JSON.stringify(setup)], { execArgv, stdio: [...stdio] }), setup);
    try {
      shop.url = `http://127.0.0.1:${String(await shop.answerTo(0, MAX_START_MS))}`;
      return shop;
    } catch (error) {
      await shop.kill();
      throw error;
    }
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** What it said last if it ended though nobody had ended it; null otherwise. */
  get ownEnd(): string | null {
    if (this.isRunning || !this.isWanted) return null;
    return `${this.child.exitCode ?? this.child.signalCode}: ${this.errors}`;
  }

  async ask<Name extends ShopTaskName>(task: Name, limitMs = MAX_TASK_MS): Promise<ShopTasks[Name]> {
    this.tasks += 1;
    const answer = this.answerTo(this.tasks, limitMs);
    this.child.send({ number: this.tasks, task });
    return (await answer) as ShopTasks[Name];
  }

  /**
   * Shuts it down as a deploy does. When it does not end in time, it is killed, and this rejects with what it held on
   * to.
   */
  async end(): Promise<void> {
    this.isWanted = false;
    try {
      if (this.isRunning) await this.ask('end', MAX_END_MS);
    } catch (error) {
      if (!this.isRunning) throw error;
      const held = await this.ask('resources');
      throw new Error(`${String(error)}; it holds on to ${held.join(', ')}`, { cause: error });
    } finally {
      await this.kill();
    }
  }

  async kill(): Promise<void> {
    this.isWanted = false;
    if (this.isRunning) this.child.kill('SIGKILL');
    await this.exit;
  }

  private answerTo(number: number, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        this.waiting.delete(number);
      };
      const timer = setTimeout(() => {
        over();
        reject(new Error(`A process of the shop gave no answer within ${limitMs} ms`));
      }, limitMs);
      this.waiting.set(number, ({ output, error }) => {
        over();
        if (error === undefined) resolve(output);
        else reject(new Error(error));
      });
      void this.exit.then(() => {
        over();
        reject(new Error(`A process of the shop ended: ${this.errors}`));
      });
    });
  }
}

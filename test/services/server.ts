import { type ChildProcessByStdio, execFile, execFileSync, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The user who runs a server that refuses to run as root. */
interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Where a server runs, and as whom. */
export interface Place {
  /** Its scratch folder, which is removed when it stops. */
  readonly folder: string;
  readonly user?: User;
}

export interface ServerCommand extends Place {
  readonly command: string;
  readonly args: readonly string[];
  readonly stopSignal: NodeJS.Signals;
}

export interface Server {
  stop(): Promise<void>;
  /** Stops it and its child processes by SIGSTOP: connections stay open, and nothing is answered. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Ends it by a signal; SIGKILL ends its child processes, too. Its folder stays, for {@link startAgain}. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Starts it after {@link end}. */
  startAgain(args: readonly string[]): Promise<void>;
  /**
   * Waits until `probe` no longer rejects. Rejects with the server's output if the server exits, or is not ready within
   * half a minute.
   */
  ready(probe: () => Promise<unknown>): Promise<void>;
}

const GUARD = join(process.cwd(), 'test/services/guard.mjs');

export function newPlace(name: string): Place {
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), `card-payment-${name}-`));
  if (user) chownSync(folder, user.uid, user.gid);
  return { folder, user };
}

/** Runs a program to its end, as the server's user. */
export async function runAt({ folder, user }: Place, command: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(command, args, { cwd: folder, ...user });
}

/** Writes a file that the server's user may change. */
export function writeAt({ user }: Place, file: string, lines: readonly string[]): void {
  writeFileSync(file, `${lines.join('\n')}\n`);
  if (user) chownSync(file, user.uid, user.gid);
}

/** Starts a server that does not outlive this process, even if this process is killed. */
export function startServer({ command, args, folder, stopSignal, user }: ServerCommand): Server {
  const guard = spawn(process.execPath, [GUARD, folder, stopSignal, command, ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...(user && { GUARD_UID: `${user.uid}`, GUARD_GID: `${user.gid}` }) },
  }) as ChildProcessByStdio<Writable, Readable, Readable>;
  let output = '';
  for (const stream of [guard.stdout, guard.stderr]) {
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4000)));
  }
  // A spec that forgets to stop its server must not hang: the guard notices the end of the process.
  guard.unref();
  guard.channel?.unref();
  for (const stream of [guard.stdin, guard.stdout, guard.stderr]) {
    (stream as unknown as Socket).unref();
  }
  const running = () => guard.exitCode === null && guard.signalCode === null;

  let orders = 0;
  const give = async (
    order: 'start' | 'end' | 'freeze' | 'thaw',
    value?: string | readonly string[],
  ): Promise<void> => {
    const id = ++orders;
    if (running()) {
      guard.ref();
      const answers = on(guard, 'message', { close: ['exit'] }) as AsyncIterable<readonly [{ readonly id: number }]>;
      guard.send({ id, order, with: value });
      for await (const [answer] of answers) {
        if (answer.id === id) {
          return guard.unref();
        }
      }
    }
    throw new Error(`${command} is not running\n${output}`);
  };

  return {
    freeze: () => give('freeze'),
    thaw: () => give('thaw'),
    end: (signal) => give('end', signal),
    startAgain: (again) => give('start', again),
    async stop() {
      if (running()) {
        const exit = once(guard, 'exit');
        guard.ref();
        guard.stdin.end();
        await exit;
      }
    },
    async ready(probe) {
      const giveUpAt = Date.now() + 30_000;
      for (;;) {
        try {
          return void (await probe());
        } catch (error) {
          if (!running() || Date.now() > giveUpAt) {
            await this.stop();
            throw new Error(`${command} did not start: ${String(error)}\n${output}`, { cause: error });
          }
          await delay(25);
        }
      }
    },
  };
}

/** Makes an empty database with each call, by a name that no other process of the tests uses, and returns its URL. */
export function databasesAt(url: string, query: (url: string, sql: string) => Promise<unknown>): () => Promise<string> {
  let databases = 0;
  return async () => {
    const name = `test_${process.pid}_${++databases}`;
    await query(url, `create database ${name}`);
    return url.replace(/\w+$/, name);
  };
}

/** A port that is free, below the system's range for clients. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Some servers refuse to run as root. */
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      continue;
    }
  }
  throw new Error('this server does not run as root, and there is no user "postgres" or "nobody"');
}

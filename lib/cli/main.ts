#!/usr/bin/env node
import { createInterface } from 'node:readline';
import type { Stream, Terminal } from './command.js';

const A_DAY_MS = 86_400_000;
const READER_GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_DESTROYED']);

// Loaded only then: an older Node.js could not even load the rest.
const { runCommandLine } = await import('../runtime/node-version.js')
  .then(() => import('./command-line.js'))
  .catch(tell);

const isTerminal = process.stdin.isTTY && process.stderr.isTTY;
const terminal: Terminal = { print, ask: isTerminal ? ask : null };
let isDone = false;
// A reader such as `head` may close the pipe early. A command that is under way goes on, since it may move money.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => isDone && process.exit());

// The timers of the payment flows do not keep the process alive until the command is done; this one does.
const busy = setInterval(() => undefined, A_DAY_MS);
const { status, stdout, stderr, staysUp } = await runCommandLine(process.argv.slice(2), terminal);
clearInterval(busy);
isDone = true;
process.exitCode = status;
await print(stderr, 'stderr');
await print(stdout, 'stdout');
// A connection that hangs must not keep the process alive.
if (!staysUp) process.exit();

function print(text: string, stream: Stream): Promise<'shown' | 'closed' | 'failed'> {
  return new Promise((resolve) => {
    process[stream].write(text, (error) => {
      if (!error) resolve('shown');
      else resolve(READER_GONE.has((error as NodeJS.ErrnoException).code ?? '') ? 'closed' : 'failed');
    });
  });
}

function tell(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

/** Not in raw mode, so that Ctrl-C ends the process; at the end of the input, the answer is empty. */
async function ask(question: string): Promise<string> {
  await print(question, 'stderr');
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}

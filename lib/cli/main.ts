#!/usr/bin/env node
import { Logger } from '@nestjs/common';
import { answer } from './command-line.js';
import { StderrLogger } from './stderr-logger.js';

const A_DAY_MS = 86_400_000;
const READER_GONE: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_DESTROYED']);

Logger.overrideLogger(new StderrLogger());
let isAnswered = false;
// A reader such as `head` may close the pipe early. A command that is under way goes on, since it may move money.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => isAnswered && process.exit());

// The timers of the payment flows do not keep the process alive until the command is done; this one does.
const busy = setInterval(() => undefined, A_DAY_MS);
const { status, stdout, stderr, staysUp } = await answer(process.argv.slice(2), (text, stream) =>
  written(process[stream], text),
);
clearInterval(busy);
isAnswered = true;
process.exitCode = status;
await written(process.stderr, stderr);
await written(process.stdout, stdout);
// A connection that hangs must not keep the process alive.
if (!staysUp) process.exit();

function written(stream: NodeJS.WriteStream, text: string): Promise<'shown' | 'closed' | 'failed'> {
  return new Promise((resolve) => {
    stream.write(text, (error) => {
      if (!error) resolve('shown');
      else resolve(READER_GONE.has((error as NodeJS.ErrnoException).code ?? '') ? 'closed' : 'failed');
    });
  });
}

#!/usr/bin/env node
import { Logger } from '@nestjs/common';
import { answer } from './command-line.js';
import { StderrLogger } from './stderr-logger.js';

const A_DAY_MS = 86_400_000;

Logger.overrideLogger(new StderrLogger());
// A reader such as `head` may close the pipe early.
process.stdout.on('error', () => process.exit());

// The timers of the payment flows do not keep the process alive until the command is done; this one does.
const busy = setInterval(() => undefined, A_DAY_MS);
const { status, stdout, stderr, staysUp } = await answer(process.argv.slice(2));
clearInterval(busy);
await written(process.stderr, stderr);
await written(process.stdout, stdout);
process.exitCode = status;
// A connection that hangs must not keep the process alive.
if (!staysUp) process.exit();

function written(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => void stream.write(text, () => resolve()));
}

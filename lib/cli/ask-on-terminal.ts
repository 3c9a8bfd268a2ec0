import { createInterface } from 'node:readline';
import { CommandFailedError } from './command.js';

/** Whether a person sees what is printed, and can answer. */
export function isTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

let lines: { readonly typed: AsyncIterator<string>; write(text: string): void } | null = null;

/** Asks on the terminal. Only `y` and `yes` are a yes; Ctrl-C and Ctrl-D end the questions. */
export async function askOnTerminal(question: string): Promise<boolean> {
  lines ??= openLines();
  lines.write(`${question} [y/N] `);
  const typed = await lines.typed.next();
  if (typed.done === true) throw new CommandFailedError('Stopped: nothing was changed.');
  return /^\s*y(?:es)?\s*$/i.test(typed.value);
}

/** One reader for all questions, lest what is typed ahead get lost. The process ends without closing it. */
function openLines(): NonNullable<typeof lines> {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  return {
    typed: reader[Symbol.asyncIterator](),
    write(text) {
      const [last = ''] = text.split('\n').slice(-1);
      process.stdout.write(text.slice(0, text.length - last.length));
      reader.setPrompt(last);
      reader.prompt();
    },
  };
}

import { SIMULATOR_CREDENTIALS, type Simulator } from '../../lib/simulator/index.js';

/** The simulator that the command `simulate` has started, by the settings that it printed. */
export function printedSimulator(printed: string): Simulator {
  const url = /^PAYMENT_BASE_URL=(\S+)$/m.exec(printed)?.[1] ?? '';
  return { url, credentials: SIMULATOR_CREDENTIALS, dialect: 'morpos' } as Simulator;
}

/** Reads a stream until its text matches. */
export async function textUntil(stream: NodeJS.ReadableStream, wanted: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (wanted.test(text)) return text;
  }
  throw new Error(`It ended without ${String(wanted)}: ${text}`);
}

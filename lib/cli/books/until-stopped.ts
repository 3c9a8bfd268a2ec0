const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs work that stops by itself once this process is told to end. The second time, the process ends at once.
 *
 * @param work whose signal is aborted with the name of the signal
 */
export async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals): void => controller.abort(name);
  for (const name of SIGNALS) process.once(name, stop);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of SIGNALS) process.removeListener(name, stop);
  }
}

/** `Stopped by SIGTERM`. */
export function stopped({ reason }: AbortSignal): string {
  return `Stopped by ${String(reason)}`;
}

/** Calls for the same key that are made at the same time are one call, whose result all of them get. */
export class SharedCalls<T> {
  /** #private, so that `inspect` of what shares calls does not show their results. */
  readonly #running = new Map<string, Promise<T>>();

  running(key: string): Promise<T> | null {
    return this.#running.get(key) ?? null;
  }

  run(key: string, call: () => Promise<T>): Promise<T> {
    const running = this.running(key);
    if (running) return running;
    const run = call().finally(() => this.#running.delete(key));
    this.#running.set(key, run);
    return run;
  }
}

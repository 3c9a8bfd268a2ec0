/** Work that is asked for often. Whoever asks before a run has begun shares that run; runs never overlap. */
export class CoalescedWork {
  /** #private: a promise that is printed leads to the context in which it was made, such as a host's request. */
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when a run that began after this call has ended. */
  run(): Promise<void> {
    const begin = (): Promise<void> => {
      this.#next = null;
      return this.work();
    };
    // A run that has failed holds up no later one.
    this.#next ??= this.#last = this.#last.then(begin, begin);
    return this.#next;
  }

  /** Resolves when the runs that were asked for until now have ended. */
  ended(): Promise<void> {
    return this.#last;
  }
}

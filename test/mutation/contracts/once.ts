const made = globalThis as unknown as Record<string, Promise<unknown> | undefined>;

/** Makes something once in this process, however often the tests are loaded. */
export function once<T>(name: string, make: () => Promise<T>): Promise<T> {
  return (made[`once ${name}`] ??= make()) as Promise<T>;
}

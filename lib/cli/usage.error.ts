/** The words of the command line are off. */
export class UsageError extends Error {}

/** Runs `parse`, telling what it threw as a matter of usage. */
export function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'The arguments were not understood.');
  }
}

/** The words of the command line, or the settings that it needs, are off: nothing was tried. */
export class UsageError extends Error {}

/** The first release of each major version that has all that is used here, as `engines` in package.json says. */
const FIRST_RELEASES: Readonly<Record<number, number>> = { 20: 19, 22: 12 };
const FIRST_MAJOR_OF_ALL = 24;

/** Which Node.js is needed; null if the one that runs will do. */
export function nodeProblem(running: string): string | null {
  const [major = 0, minor = 0] = running.split('.').map(Number);
  if (major >= FIRST_MAJOR_OF_ALL || minor >= (FIRST_RELEASES[major] ?? Infinity)) return null;
  return `nestjs-card-payment needs Node.js ^20.19, ^22.12 or >=24, but this is ${running}.`;
}

// Imported before all else: on an older Node.js, what comes next fails with an error that does not say why.
const problem = nodeProblem(process.versions.node);
if (problem !== null) throw new Error(problem);

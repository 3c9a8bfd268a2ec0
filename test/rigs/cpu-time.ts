/**
 * How much CPU time this process has taken, in milliseconds. What a piece of work takes of it does not grow with what
 * else the machine does, as its time by a clock does.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

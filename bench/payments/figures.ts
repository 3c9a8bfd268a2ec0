/** How much each process does. */
export interface Load {
  readonly warmUp: number;
  readonly calls: number;
  readonly atOnce: number;
}

/** How long the calls of one process took, in µs. */
export interface Latency {
  readonly min: number;
  readonly median: number;
  readonly p99: number;
}

/** What one process measured, in µs per call. */
export interface Figures {
  /** CPU of the subject's process, system and user. */
  readonly cpu: number;
  readonly wall: number;
  readonly latency: Latency;
}

export function latencyOf(took: Float64Array): Latency {
  const sorted = took.toSorted();
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!;
  return { min: sorted[0]!, median: at(0.5), p99: at(0.99) };
}

/** CPU in µs per call, since `process.cpuUsage()` was `since`. */
export function cpuSince(since: NodeJS.CpuUsage, calls: number): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / calls;
}

const EVERY_MS = 2;

/**
 * How long this process itself blocks its event loop. A machine that is busy with something else delays the loop, too;
 * but then the process uses no CPU time meanwhile, so that the shorter of the two, delay and CPU time, is its own.
 */
export class LoopWatch {
  private longestMs = 0;
  private timer: NodeJS.Timeout | undefined;

  start(): void {
    let [wall, cpu] = [performance.now(), cpuMs()];
    this.timer = setInterval(() => {
      const [wallNow, cpuNow] = [performance.now(), cpuMs()];
      this.longestMs = Math.max(this.longestMs, Math.min(wallNow - wall - EVERY_MS, cpuNow - cpu));
      [wall, cpu] = [wallNow, cpuNow];
    }, EVERY_MS);
  }

  /** @returns the longest that it was blocked, in milliseconds */
  stop(): number {
    clearInterval(this.timer);
    return this.longestMs;
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

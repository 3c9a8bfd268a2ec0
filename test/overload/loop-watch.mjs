const EVERY_MS = 2;

/**
 * How long this process itself holds its event loop. A machine that is busy with something else delays the loop, too;
 * but then the process uses no CPU time meanwhile, so that the shorter of the two, delay and CPU time, is its own.
 */
export class LoopWatch {
  longestMs = 0;

  start() {
    let [wall, cpu] = [performance.now(), cpuMs()];
    this.timer = setInterval(() => {
      const [wallNow, cpuNow] = [performance.now(), cpuMs()];
      this.longestMs = Math.max(this.longestMs, Math.min(wallNow - wall - EVERY_MS, cpuNow - cpu));
      [wall, cpu] = [wallNow, cpuNow];
    }, EVERY_MS);
  }

  /** @returns the longest, in milliseconds */
  stop() {
    clearInterval(this.timer);
    return this.longestMs;
  }
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

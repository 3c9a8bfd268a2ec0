import { MAX_OUTAGE_MS, StoreLoad } from '../rigs/store-load.js';
import { type PostgresPair, startPostgresPair } from '../services/postgres-pair.js';

/** Longer than anything takes that a test waits for. */
export const LIMIT_MS = 180_000;

/** Two shops under load on a PostgreSQL primary with a synchronous standby. */
export class PostgresUnderLoad {
  private constructor(
    readonly pair: PostgresPair,
    readonly load: StoreLoad,
    private readonly url: string,
  ) {}

  static async start(binaries?: string): Promise<PostgresUnderLoad> {
    const pair = await startPostgresPair(binaries === undefined ? {} : { binaries });
    try {
      const url = await pair.createDatabase();
      return new PostgresUnderLoad(pair, await StoreLoad.start([url, url]), url);
    } catch (error) {
      await pair.stop();
      throw error;
    }
  }

  /** Payments go on soon after this moment, at both shops. */
  async expectToGoOn(after = performance.now()): Promise<void> {
    expect(await this.load.untilItGoesOn(after)).toBeLessThan(MAX_OUTAGE_MS);
  }

  /** Nothing that a buyer or a handler was told is lost, and nothing is charged or given back twice. */
  async expectNoDifference(): Promise<void> {
    expect(await this.load.differences(this.url)).toEqual([]);
    expect(this.load.longestMs).toBeLessThan(MAX_OUTAGE_MS);
  }

  async stop(): Promise<void> {
    await this.load.stop();
    await this.pair.stop();
  }
}

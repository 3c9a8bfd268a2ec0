import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';

const ASK_AGAIN_AFTER_MS = 100;
/** Error replies that say that Redis did nothing, and that the same request may succeed in a moment. */
const NOT_NOW = new Set(['BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'READONLY', 'TRYAGAIN']);

const SILENT = 'silent';

/** An ioredis client, with a limit to how long each request may take. */
export class RedisConnection {
  /** The client knows its password. A `#` field is not printed by inspect or JSON. */
  readonly #client: Redis | Cluster;

  constructor(
    client: Redis | Cluster,
    private readonly timeoutMs: number,
    private readonly onSilence: () => void,
  ) {
    this.#client = client;
  }

  /**
   * Repeats a request until it is answered or the time is up, even if the connection breaks and is made again. So a
   * request may reach Redis more than once, and a request that was given up may still have been carried out.
   * @throws Error that only names the failure, since the errors of ioredis contain the arguments of the command
   */
  async ask<T>(question: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    let trouble = SILENT;
    let timeUp = false;
    const asking = async (): Promise<T> => {
      for (;;) {
        // A new connection may be silent, too.
        trouble = SILENT;
        try {
          return await question(this.#client);
        } catch (error) {
          trouble = troubleOf(error);
          if (this.#client.status === 'end' || (isReply(error) && !NOT_NOW.has(trouble))) {
            throw failure(trouble);
          }
        }
        await delay(ASK_AGAIN_AFTER_MS);
        if (timeUp) {
          throw failure(trouble);
        }
      }
    };
    let timer: NodeJS.Timeout | undefined;
    const time = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        timeUp = true;
        if (trouble === SILENT) {
          this.onSilence();
        }
        reject(new Error(`Redis gave no answer in ${this.timeoutMs} ms: ${trouble}`));
      }, this.timeoutMs);
    });
    return Promise.race([asking(), time]).finally(() => clearTimeout(timer));
  }
}

/** What went wrong, in a word or two and without anything that was sent. */
export function troubleOf(error: unknown): string {
  const { message, code } = error as { message?: unknown; code?: unknown };
  if (isReply(error)) {
    return /^[A-Z]+/.exec(String(message))?.[0] ?? 'ERR';
  }
  return typeof code === 'string' ? code : 'connection lost';
}

function failure(trouble: string): Error {
  const hint = trouble === 'MOVED' ? ' (it is part of a cluster: give the store an ioredis Cluster)' : '';
  return new Error(`Redis failed: ${trouble}${hint}`);
}

/** Whether it is an error reply that Redis itself sent. */
export function isReply(error: unknown): boolean {
  return (error as { name?: unknown }).name === 'ReplyError';
}

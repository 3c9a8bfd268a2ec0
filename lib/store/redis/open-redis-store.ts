import type { Redis, RedisOptions } from 'ioredis';
import { Hidden } from '../../payment/hidden.js';
import { STRONG_TLS } from '../../payment/tls.js';
import { driverProblem } from '../driver-check.js';
import { isReply, troubleOf } from './redis-connection.js';
import { DEFAULT_TIMEOUT_MS, RedisPaymentStore, type RedisPaymentStoreOptions } from './redis-payment-store.js';
import { PaymentLogger } from '../../telemetry/payment-logger.js';

const MAX_RECONNECT_DELAY_MS = 2000;
const DISCONNECT_TIMEOUT_MS = 500;
/** Without it, ioredis 6 asks for RESP3 on each connection and waits for the answer before anything else. */
const RESP2: object = { protocol: 2 };

/**
 * Makes a store with a connection of its own: `open()` connects, `close()` disconnects.
 *
 * For a cluster, Sentinel or a private certificate authority make the client yourself and give it to
 * {@link RedisPaymentStore}.
 * @param url `redis://[user:password@]host[:port][/database]`, or `rediss://…` for TLS
 * @throws Error when the URL has another form (it is not shown), or when the package ioredis is not installed
 */
export async function openRedisStore(url: string, options: RedisPaymentStoreOptions = {}): Promise<RedisPaymentStore> {
  const address = readUrl(url);
  const Client = await importClient();
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const client = new Client({
    ...address,
    ...RESP2,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // The store's own requests show whether Redis is ready, so that a silent server counts as one that does not answer.
    enableReadyCheck: false,
    disableClientInfo: true,
    // A request that cannot be sent fails at once: the store retries by itself, and must not send what it gave up.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
  });
  return new ConnectingRedisStore(client, { ...options, timeoutMs });
}

class ConnectingRedisStore extends RedisPaymentStore {
  private readonly logger = new PaymentLogger(RedisPaymentStore.name);
  private isOpen = false;
  private isLost = false;
  private trouble: string | null = null;
  /** Whether the trouble is an error reply of Redis. */
  private isRefused = false;
  private handshake: NodeJS.Timeout | undefined;

  /** Hidden, because the client knows its password. */
  private readonly client: Hidden<Redis>;

  constructor(client: Redis, options: RedisPaymentStoreOptions & { readonly timeoutMs: number }) {
    super(client, options);
    this.client = new Hidden(client);
    // The start fails when the first connection fails; a connection that worked before is made again.
    client.options.retryStrategy = (times) => (this.isOpen ? Math.min(times * 50, MAX_RECONNECT_DELAY_MS) : null);
    client.on('error', (error) => {
      this.trouble = troubleOf(error);
      this.isRefused = isReply(error);
    });
    client.on('close', () => this.onClose());
    client.on('connect', () => {
      // Not on `ready`: ioredis 6 reports a database that it could not select before that, ioredis 5 after it.
      this.trouble = null;
      this.handshake = setTimeout(() => this.onSilentHandshake(options.timeoutMs), options.timeoutMs);
    });
    client.on('ready', () => {
      clearTimeout(this.handshake);
      this.isLost = false;
    });
  }

  override async open(): Promise<void> {
    // Another account may share the store, or the host may have opened it already.
    if (this.isOpen) return;
    const trouble = await this.client
      .reveal()
      .connect()
      .then(
        () => null,
        (error: unknown) => this.trouble ?? troubleOf(error),
      );
    if (trouble !== null && !this.isRefused) {
      const { host, port } = this.client.reveal().options;
      throw new Error(`Redis at ${host}:${port} cannot be reached: ${trouble}`);
    }
    try {
      if (trouble === null) await super.open();
      if (this.trouble !== null) {
        throw new Error(`Redis refused the user or the database of the URL: ${this.trouble}`);
      }
      this.isOpen = true;
    } finally {
      if (!this.isOpen) {
        await this.close();
      }
    }
  }

  override async close(): Promise<void> {
    this.isOpen = false;
    if (this.client.reveal().status !== 'end') {
      this.client.reveal().disconnect();
    }
    return super.close();
  }

  /** Done here, because the socketTimeout of ioredis outlives its connection and breaks the next one. */
  protected override onSilence(): void {
    this.client.reveal().disconnect(true);
  }

  /** Needed because ioredis 6 waits without limit until user and database are accepted. */
  private onSilentHandshake(timeoutMs: number): void {
    this.trouble = `no answer in ${timeoutMs} ms`;
    this.isRefused = false;
    this.client.reveal().disconnect(true);
  }

  /** Warns once when the connection is lost, not at each attempt to connect again. */
  private onClose(): void {
    clearTimeout(this.handshake);
    if (this.isOpen && !this.isLost) {
      this.isLost = true;
      this.logger.warn(`The connection to Redis is lost (${this.trouble ?? 'closed'}); connecting again.`);
    }
  }
}

function readUrl(text: string): RedisOptions {
  try {
    const url = new URL(text);
    const database = /^\/?(\d*)$/.exec(url.pathname)?.[1];
    if (/^rediss?:$/.test(url.protocol) && url.hostname !== '' && database !== undefined && !url.search && !url.hash) {
      return {
        host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: Number(url.port || 6379),
        username: decodeURIComponent(url.username) || undefined,
        password: decodeURIComponent(url.password) || undefined,
        db: Number(database),
        tls: url.protocol === 'rediss:' ? { ...STRONG_TLS } : undefined,
      };
    }
  } catch {
    // It is not a URL. The error below does not show it.
  }
  throw new Error(
    'The URL of the Redis store must be redis://[user:password@]host[:port][/database], or rediss:// for TLS.',
  );
}

async function importClient(): Promise<typeof Redis> {
  let why;
  try {
    return (await import('ioredis')).Redis;
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown };
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    why = isMissing ? null : driverProblem('ioredis');
  }
  throw new Error(
    why === null
      ? 'The Redis store needs the package ioredis: npm install ioredis'
      : `The Redis store cannot load its driver: ${why}`,
  );
}

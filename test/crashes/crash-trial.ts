import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PaymentHistoryEntry, PaymentRecord, PaymentStore } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { type Attempt, type Flow, newSale } from './attempt.js';
import type { Books } from './comparison.js';

/** A store that outlives the processes that use it. */
export interface DurableStore {
  readonly url: string;
  /** The store, for the test to look into. */
  open(): Promise<PaymentStore>;
  stop(): Promise<void>;
}

const AT_ONCE = 3;

/** A process to be killed: in which flow, where on its way, and with which planted fault. */
export interface Crash {
  readonly flow: Flow;
  readonly point: string;
  /** One of `flawed-store.mjs`; a sound store if absent. */
  readonly fault?: string;
}

/** Kills processes on their way, and lets another one come after them. */
export class CrashTrial {
  private readonly attempts: Attempt[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'card-payment-crashes-'));
  private readonly journal = join(this.folder, 'journal');

  private constructor(
    private readonly durable: DurableStore,
    private readonly store: PaymentStore,
    readonly simulator: Simulator,
  ) {}

  static async on(durable: DurableStore): Promise<CrashTrial> {
    // The clock of whoever comes after is put forward.
    const settings = { dialect: 'morpos', timestampToleranceMs: Infinity, requestLimit: 0 } as const;
    return new CrashTrial(durable, await durable.open(), await startSimulator(settings));
  }

  async end(): Promise<void> {
    await this.store.close();
    await this.simulator.close();
    await this.durable.stop();
    rmSync(this.folder, { recursive: true });
  }

  /** @returns the payments whose processes were killed, in the order of the crashes */
  async crash(crashes: readonly Crash[]): Promise<Attempt[]> {
    const attempts: Attempt[] = [];
    const workOff = async (queue: [number, Crash][]): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) attempts[next[0]] = await this.crashOnce(next[1]);
    };
    const isAtHandler = ([, { point }]: [number, Crash]): boolean => point.endsWith(' the handler');
    const queue = [...crashes.entries()].filter((crash) => !isAtHandler(crash));
    await Promise.all(Array.from({ length: AT_ONCE }, () => workOff(queue)));
    // One by one, since any process that runs may be the one that takes a delivery.
    await workOff([...crashes.entries()].filter(isAtHandler));
    this.attempts.push(...attempts);
    return attempts;
  }

  /**
   * A process comes after those that were killed, and works until nothing is left to do.
   * @returns its exit code, and how many passes it made
   */
  async comeAfter(): Promise<{ code: number | null; passes: number }> {
    const survivor = fork(scriptOf('survivor'), [this.setupOf({})]);
    let passes = NaN;
    survivor.once('message', (done: { passes: number }) => ({ passes } = done));
    survivor.send(this.attempts);
    const [code] = (await once(survivor, 'exit')) as [number | null];
    return { code, passes };
  }

  async books(): Promise<Books> {
    const payments = new Map<string, PaymentRecord>();
    const histories = new Map<string, PaymentHistoryEntry[]>();
    for (const { sale } of this.attempts) {
      for (const record of await this.store.findByReference('default', sale.reference)) {
        const { account, conversationId } = record;
        payments.set(conversationId, record);
        histories.set(conversationId, await this.store.history(account, conversationId));
      }
    }
    const heard = new Set(existsSync(this.journal) ? readFileSync(this.journal, 'utf8').split('\n') : []);
    return { attempts: this.attempts, ledger: this.simulator.ledger, payments, histories, heard };
  }

  private async crashOnce({ flow, point, fault }: Crash): Promise<Attempt> {
    const sale = newSale();
    const victim = fork(scriptOf('victim'), [this.setupOf({ flow, point, sale, fault })]);
    const exit = once(victim, 'exit') as Promise<[number | null, string | null]>;
    const fields = flow === 'auth3d' ? await this.approve(victim, sale.conversationId) : null;
    const [code, signal] = await exit;
    if (signal !== 'SIGKILL') throw new Error(`${flow}, ${point}: ended with ${code ?? signal} instead of a SIGKILL`);
    return { flow, point, sale, fields };
  }

  private async approve(victim: ChildProcess, conversationId: string): Promise<object> {
    await once(victim, 'message');
    const { fields } = this.simulator.approve(conversationId);
    victim.send(fields);
    return fields;
  }

  private setupOf(more: object): string {
    const { durable, simulator, journal } = this;
    const gateway = { baseUrl: simulator.url, ...simulator.credentials };
    return JSON.stringify({ gateway, journal, storeUrl: durable.url, ...more });
  }
}

function scriptOf(role: 'victim' | 'survivor'): string {
  return fileURLToPath(new URL(`${role}-process.mjs`, import.meta.url));
}

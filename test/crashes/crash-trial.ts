import { existsSync, readFileSync } from 'node:fs';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { type BothLedgers, storedLedger } from '../rigs/ledger-comparison.js';
import { openedStoreAt, SHARED_STORES, type SharedStore, type SharedStoreName } from '../rigs/shared-stores.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { TaskProcess } from '../rigs/task-process.js';
import { type Attempt, type Crash, newSale } from './attempt.js';
import type { ShopSettings } from './shop.js';
import type { VictimSetup } from './victim-process.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

const VICTIM = new URL('victim-process.ts', import.meta.url);
const SURVIVOR = new URL('survivor-process.ts', import.meta.url);

/** What the gateway, the store and the handlers say when all is over. */
export interface FinalState extends BothLedgers {
  /** Ids of the events that a handler has heard. */
  readonly heard: ReadonlySet<string>;
}

/** Kills processes on the way of their payments, and lets another one come after them. */
export class CrashTrial {
  private readonly attempts: Attempt[] = [];
  private readonly folder = makeScratchFolder('crashes');
  private readonly journal = this.folder.file('journal');

  private constructor(
    private readonly shared: SharedStore,
    private readonly storeUrl: string,
    private readonly store: PaymentStore,
    private readonly simulator: Simulator,
  ) {}

  static async on(name: SharedStoreName): Promise<CrashTrial> {
    const shared = await SHARED_STORES[name]();
    const storeUrl = await shared.create();
    const simulator = await startTimelessGateway({ requestLimit: 0, inquiryKnowsRefunds: true });
    return new CrashTrial(shared, storeUrl, await openedStoreAt(storeUrl), simulator);
  }

  async end(): Promise<void> {
    await this.store.close();
    await this.simulator.close();
    await this.shared.stop();
    this.folder.remove();
  }

  /**
   * Kills a process when each of these has come to its point.
   *
   * @returns the payments and refunds, in the order of the crashes
   */
  async crash(crashes: readonly Crash[]): Promise<readonly Attempt[]> {
    const made = crashes.map((crash): Attempt => ({ ...crash, sale: newSale(), fields: null }));
    const victim = await TaskProcess.fork(VICTIM, { ...this.settings, attempts: made } satisfies VictimSetup);
    try {
      await victim.ask('prepare');
      const attempts = made.map((attempt): Attempt => {
        if (attempt.flow !== 'auth3d') return attempt;
        return { ...attempt, fields: this.simulator.approve(attempt.sale.conversationId).fields };
      });
      const callbacks = attempts.map(({ sale, fields }) => [sale.conversationId, fields]);
      const failure = await victim.ask<string>('run', Object.fromEntries(callbacks)).catch((error: unknown) => {
        // A task failed, and nothing killed the process.
        if (victim.isRunning) throw error;
        return null;
      });
      if (failure !== null) throw new Error(failure);
      const [code, signal] = await victim.exit;
      if (signal !== 'SIGKILL') throw new Error(`The process ended with ${code ?? signal} instead of a SIGKILL`);
      for (const { flow, point, sale } of attempts) {
        // The buyer may have been sent to the page just before, and pays there.
        if (flow === 'hosted' && point === 'after the closing write') {
          this.simulator.payAtPage(sale.conversationId, { callback: 'none' });
        }
      }
      this.attempts.push(...attempts);
      return attempts;
    } finally {
      await victim.kill();
    }
  }

  /**
   * A process comes after those that were killed, and works until nothing is left to do.
   * @returns its exit code, and how many passes it made
   */
  async recover(): Promise<{ code: number | null; passes: number }> {
    const survivor = await TaskProcess.fork(SURVIVOR, this.settings);
    try {
      const passes = await survivor.ask<number>('settle', this.attempts);
      await survivor.end();
      const [code] = await survivor.exit;
      return { code, passes };
    } finally {
      await survivor.kill();
    }
  }

  async finalState(): Promise<FinalState> {
    const references = new Map(this.attempts.map(({ sale }) => [sale.conversationId, sale.reference]));
    const stored = await storedLedger(this.store, references.values());
    const heard = new Set(existsSync(this.journal) ? readFileSync(this.journal, 'utf8').split('\n') : []);
    return { ledger: this.simulator.ledger, ...stored, references, heard };
  }

  private get settings(): ShopSettings {
    const { storeUrl, simulator, journal } = this;
    return { account: accountAt(simulator), storeUrl, journal };
  }
}

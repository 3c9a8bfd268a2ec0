import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Auth3dDto } from 'nestjs-card-payment';
import type { Simulator, SimulatorLedger } from 'nestjs-card-payment/simulator';
import { storedPayments, type StoredPayment } from '../rigs/ledger-comparison.js';
import { storedRefunds, type StoredRefund } from '../rigs/refund-comparison.js';
import { openedStoreAt, SHARED_STORES, type SharedStore, type SharedStoreName } from '../rigs/shared-stores.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { TaskProcess } from '../rigs/task-process.js';
import { type Attempt, type Flow, newSale } from './attempt.js';
import type { Flaw } from './flawed-store.js';
import type { ShopSettings } from './shop.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

const AT_ONCE = 3;
const VICTIM = new URL('victim-process.ts', import.meta.url);
const SURVIVOR = new URL('survivor-process.ts', import.meta.url);

/** A process to be killed: in which flow, where on its way, and with which planted flaw of its store. */
export interface Crash {
  readonly flow: Flow;
  readonly point: string;
  /** A sound store if absent. */
  readonly flaw?: Flaw;
}

/** What the gateway, the store and the handlers say when all is over. */
export interface Books {
  readonly ledger: SimulatorLedger;
  /** Of the orders that were attempted. */
  readonly payments: readonly StoredPayment[];
  /** Of those payments. */
  readonly refunds: readonly StoredRefund[];
  /** The orders of the payments that were attempted, by conversationId. */
  readonly references: ReadonlyMap<string, string>;
  /** Ids of the events that a handler has heard. */
  readonly heard: ReadonlySet<string>;
}

/** Kills processes on their way, and lets another one come after them. */
export class CrashTrial {
  private readonly attempts: Attempt[] = [];
  private readonly folder = makeScratchFolder('crashes');
  private readonly journal = join(this.folder.path, 'journal');

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

  /** @returns the payments and refunds whose processes were killed, in the order of the crashes */
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

  async books(): Promise<Books> {
    const references = new Map(this.attempts.map(({ sale }) => [sale.conversationId, sale.reference]));
    const payments = await storedPayments(this.store, references.values());
    const refunds = await storedRefunds(this.store, payments);
    const heard = new Set(existsSync(this.journal) ? readFileSync(this.journal, 'utf8').split('\n') : []);
    return { ledger: this.simulator.ledger, payments, refunds, references, heard };
  }

  private async crashOnce(crash: Crash): Promise<Attempt> {
    const { flow, point } = crash;
    const sale = newSale();
    const victim = await TaskProcess.fork(VICTIM, { ...this.settings, ...crash, sale });
    try {
      const fields = flow === 'auth3d' ? await this.approve(victim, sale.conversationId) : null;
      const died = await victim.ask(flow, fields).then(
        () => false,
        (error: unknown) => {
          // The task failed, and nothing killed the process.
          if (victim.isRunning) throw error;
          return true;
        },
      );
      if (!died) throw new Error(`${flow}, ${point}: the process got to the end of its payment`);
      const [code, signal] = await victim.exit;
      if (signal !== 'SIGKILL') throw new Error(`${flow}, ${point}: ended with ${code ?? signal} instead of a SIGKILL`);
      // The buyer may have been sent to the page just before, and pays there.
      if (flow === 'hosted' && point === 'after the closing write') {
        this.simulator.payAtPage(sale.conversationId, { callback: 'none' });
      }
      return { flow, point, sale, fields };
    } finally {
      await victim.kill();
    }
  }

  private async approve(victim: TaskProcess, conversationId: string): Promise<Auth3dDto['fields']> {
    await victim.ask('sendToBank');
    return this.simulator.approve(conversationId).fields;
  }

  private get settings(): ShopSettings {
    const { storeUrl, simulator, journal } = this;
    return { account: accountAt(simulator), storeUrl, journal };
  }
}

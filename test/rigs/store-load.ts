import { setTimeout as delay } from 'node:timers/promises';
import {
  newConversationId,
  type Payment,
  PaymentError,
  PaymentHealth,
  type PaymentOptions,
  type Refund,
} from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { differences } from '../soak/differences.js';
import { type HandledEvent, orderHandlers } from '../soak/order-handlers.js';
import { until } from '../services/until.js';
import { ClockSetAhead } from './clock-set-ahead.js';
import { readJournal } from './journal.js';
import { storedLedger } from './ledger-comparison.js';
import { sale } from './sale.js';
import { makeScratchFolder } from './scratch-folder.js';
import { openedStoreAt } from './shared-stores.js';
import { reconcileUntilIdle, type Shop, startShop } from './shop.js';
import { accountAt, startTimelessGateway } from './simulated-gateway.js';

const KINDS = ['direct', '3d', 'refund'] as const;
type Kind = (typeof KINDS)[number];

const BUYERS_PER_SHOP = 3;
const THINK_MS = 50;
const PAUSE_MS = 100;
const MAX_PASSES = 40;
/** How soon payments have to go on, whatever happened to the store. */
export const MAX_OUTAGE_MS = 30_000;
/** How long they are waited for, so that a test says which of them did not go on. */
const MAX_WAIT_MS = 60_000;
/** What a shop may throw when the call can be made again. */
const AGAIN: ReadonlySet<string> = new Set(['PAYMENT_STORE', 'PAYMENT_NOT_SENT']);
/** What it may throw because an earlier try of the same sale or refund was written after all. */
const WRITTEN_BEFORE: ReadonlySet<string> = new Set(['PAYMENT_DUPLICATE', 'PAYMENT_REFUND', 'PAYMENT_INIT3D']);
/** What it may throw because it read at a server that has been replaced. */
const OLD_READ: ReadonlySet<string> = new Set(['PAYMENT_NOT_FOUND', 'PAYMENT_STATE']);

/** Shops under load, each of which reaches the store by an address of its own, while a test does things to the store. */
export class StoreLoad {
  /** How often a shop said that the store does not work, or that an outcome is not stored yet. */
  troubles = 0;
  /** How long the slowest call of a shop took. */
  longestMs = 0;
  /**
   * Whether a shop may read at a server that has been replaced: it does not find a payment made elsewhere, or finds it in
   * an earlier state.
   */
  readsMayBeOld = false;
  private readonly problems: string[] = [];
  private readonly references: string[] = [];
  private readonly shown: Pick<Payment, 'conversationId' | 'state'>[] = [];
  private readonly repeats: { first: string; again: string }[] = [];
  /** When the last call that succeeded began, of each kind at each shop. */
  private readonly lastBegun = new Map<string, number>();
  private readonly buyers: Promise<void>[] = [];
  private shops: readonly Shop[] = [];
  private isOver = false;

  private constructor(
    readonly simulator: Simulator,
    private readonly folder: ReturnType<typeof makeScratchFolder>,
  ) {}

  /** Resolves when each shop has taken payments of each kind. */
  static async start(storeUrls: readonly string[]): Promise<StoreLoad> {
    const simulator = await startTimelessGateway({ requestLimit: 0, inquiryKnowsRefunds: true });
    const load = new StoreLoad(simulator, makeScratchFolder('load'));
    try {
      load.shops = await Promise.all(storeUrls.map((storeUrl) => load.openShop({ storeUrl })));
      load.buyers.push(
        ...load.shops.flatMap((_shop, index) => Array.from({ length: BUYERS_PER_SHOP }, () => load.buy(index))),
      );
      await load.untilItGoesOn(performance.now());
      return load;
    } catch (error) {
      await load.stop();
      throw error;
    }
  }

  /** How many payments and refunds the gateway has been asked for. */
  get sent(): number {
    const { ledger } = this.simulator;
    return (['DoPayment', 'Auth3d', 'refund'] as const).reduce((sum, operation) => sum + ledger.calls(operation), 0);
  }

  /**
   * Waits until calls of each kind that began after this moment have succeeded, at each shop or at those that are named.
   *
   * @returns how long after the moment that was, in milliseconds
   */
  async untilItGoesOn(after: number, shops: readonly number[] = [...this.shops.keys()]): Promise<number> {
    const names = shops.flatMap((shop) => KINDS.map((kind) => nameOf(shop, kind)));
    const missing = () => names.filter((name) => (this.lastBegun.get(name) ?? -Infinity) <= after);
    await until(() => missing().length === 0, MAX_WAIT_MS).catch(() => undefined);
    if (missing().length > 0) throw new Error(`Nothing of these succeeded: ${missing().join(', ')}.`);
    return performance.now() - after;
  }

  /** Waits until a shop says that the store does not work, or that an outcome is not stored yet. */
  async untilItFails(): Promise<void> {
    const before = this.troubles;
    await until(() => this.troubles > before, MAX_WAIT_MS);
  }

  /**
   * Ends the load, lets the shops finish and close, sets the clock ahead for what takes hours, and compares what the
   * gateway, the store, the buyers and the handlers say.
   *
   * @param storeUrl where the store is in the end
   * @returns a line for each difference, and for each answer of a shop that should not be
   */
  async differences(storeUrl: string): Promise<string[]> {
    this.isOver = true;
    await Promise.all(this.buyers);
    await until(async () => (await this.owedWrites()) === 0, MAX_WAIT_MS);
    await this.closeShops();
    const clock = new ClockSetAhead();
    const shop = await this.openShop({ store: await openSqlStore(storeUrl, { clock }), background: false }, clock);
    try {
      await reconcileUntilIdle(shop.payments, clock, MAX_PASSES);
    } finally {
      await shop.app.close();
    }
    const store = await openedStoreAt(storeUrl);
    try {
      const stored = await storedLedger(store, this.references);
      const { simulator, shown, repeats } = this;
      const { ledger } = simulator;
      const handled = readJournal<HandledEvent>(this.journal);
      const found = differences({ ledger, ...stored, shown, repeats, handled });
      return [...this.problems, ...found];
    } finally {
      await store.close();
    }
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.buyers);
    await this.closeShops();
    await this.simulator.close();
    this.folder.remove();
  }

  private openShop(options: PaymentOptions, clock?: ClockSetAhead): Promise<Shop> {
    const work = { journal: this.journal, seed: 1, failing: 0, hanging: 0, hangMs: 0 };
    return startShop({
      options: { ...accountAt(this.simulator), timeoutMs: 5_000, ...options },
      providers: orderHandlers(2, work),
      ...(clock && { clock }),
    });
  }

  private async closeShops(): Promise<void> {
    const { shops } = this;
    this.shops = [];
    await Promise.all(shops.map(({ app }) => app.close()));
  }

  private async owedWrites(): Promise<number> {
    const reports = await Promise.all(this.shops.map(({ app }) => app.get(PaymentHealth).report()));
    return reports.reduce((sum, { owedWrites }) => sum + owedWrites, 0);
  }

  private get journal(): string {
    return this.folder.file('journal');
  }

  /** One order after the other, directly and at the bank in turn; a part of each paid one is given back. */
  private async buy(shop: number): Promise<void> {
    for (let turn = 0; !this.isOver; turn += 1) {
      await delay(THINK_MS);
      const order = sale(turn % 5 === 4 ? '149.51' : '149.90', { idempotencyKey: newConversationId() });
      this.references.push(order.reference ?? '');
      const paid = turn % 2 === 0 ? await this.payDirectly(shop, order) : await this.payAtTheBank(shop, order);
      // An outcome that is not stored yet is not known to the refund either.
      if (paid?.state === 'succeeded' && paid.stored) await this.giveBack(shop, paid);
    }
  }

  private async payDirectly(shop: number, order: ReturnType<typeof sale>): Promise<Payment | null> {
    const payment = await this.persist(shop, 'direct', ({ payments }) => payments.doPayment(order));
    if (!payment) return null;
    this.shown.push(payment);
    const again = await this.persist(shop, null, ({ payments }) => payments.doPayment(order));
    if (again) this.repeats.push({ first: payment.conversationId, again: again.conversationId });
    return payment;
  }

  private async payAtTheBank(shop: number, order: ReturnType<typeof sale>): Promise<Payment | null> {
    // With another key each time, as of a buyer who begins anew.
    const started = await this.persist(shop, null, async ({ payments }) => {
      const { payment } = await payments.init3d({ ...order, idempotencyKey: newConversationId() });
      return payment;
    });
    if (!started) return null;
    this.shown.push(started);
    const { conversationId } = started;
    const { fields } = this.simulator.approve(conversationId);
    const payment = await this.persist(shop, '3d', ({ payments }) => payments.auth3d({ conversationId, fields }));
    if (payment) this.shown.push(payment);
    return payment;
  }

  private async giveBack(shop: number, { conversationId }: Payment): Promise<void> {
    const asked = { conversationId, amount: '40.00', idempotencyKey: newConversationId() };
    await this.persist(shop, 'refund', ({ payments }) => payments.refund(asked));
  }

  /** Makes a call until it is answered. @returns null when the load ends before, or an earlier try counts */
  private async persist<T extends Payment | Refund>(
    index: number,
    kind: Kind | null,
    call: (shop: Shop) => Promise<T>,
  ): Promise<T | null> {
    while (!this.isOver) {
      const began = performance.now();
      try {
        const answer = await call(this.shops[index]!);
        if (!answer.stored) this.troubles += 1;
        if (kind && answer.stored && answer.state === 'succeeded') this.lastBegun.set(nameOf(index, kind), began);
        return answer;
      } catch (error) {
        const code = error instanceof PaymentError ? error.code : '';
        if (code === 'PAYMENT_STORE') this.troubles += 1;
        if (WRITTEN_BEFORE.has(code)) return null;
        const isOldRead = this.readsMayBeOld && OLD_READ.has(code);
        if (!AGAIN.has(code) && !isOldRead) {
          this.problems.push(`${kind ?? 'init3d'} at shop ${index}: ${String(error)}`);
          return null;
        }
      } finally {
        this.longestMs = Math.max(this.longestMs, performance.now() - began);
      }
      await delay(PAUSE_MS);
    }
    return null;
  }
}

function nameOf(shop: number, kind: Kind): string {
  return `${kind} at shop ${shop}`;
}

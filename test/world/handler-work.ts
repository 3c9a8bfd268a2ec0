import type { TestClock } from 'nestjs-card-payment/testing';
import type { Chance } from '../rigs/chance.js';
import type { WatchedHost, Witness } from './witness.js';
import type { LedgerEvent } from '../../lib/payment/ledger-event.js';

/** How a call of a handler goes. `long` takes longer than a lease, `hangs` never returns. */
type Fate = 'done' | 'slow' | 'long' | 'fails' | 'hangs';

export type HandlerWeather = Readonly<Record<Fate, number>>;

export const FINE_HANDLERS: HandlerWeather = { done: 1, slow: 0, long: 0, fails: 0, hangs: 0 };

/** The merchant's handlers, and how their calls go. */
export class HandlerWork {
  weather: HandlerWeather = FINE_HANDLERS;
  private readonly hanging = new Set<() => void>();

  constructor(
    private readonly clock: TestClock,
    private readonly chance: Chance,
    private readonly witness: Witness,
  ) {}

  async run(host: WatchedHost, handlerId: string, event: LedgerEvent): Promise<void> {
    const call = this.witness.begin(host, handlerId, event);
    const fate = this.chance.weighted(this.weather);
    if (fate === 'hangs') await new Promise<void>((release) => this.hanging.add(release));
    else if (fate !== 'done') await this.clock.sleep(this.durationOf(fate));
    await host.life.goesOn();
    const isHandled = fate !== 'fails' && fate !== 'hangs';
    this.witness.end(call, isHandled);
    if (!isHandled) throw new Error('the mail server is down');
  }

  /** Ends the calls that hang. */
  release(): void {
    for (const release of this.hanging) release();
    this.hanging.clear();
  }

  private durationOf(fate: 'slow' | 'long' | 'fails'): number {
    if (fate === 'long') return this.chance.between(70_000, 200_000);
    return this.chance.between(1, fate === 'slow' ? 20_000 : 2_000);
  }
}

import assert from 'node:assert/strict';
import type { LedgerEvent, LedgerEventType } from '../../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import type { Delivery } from '../../../lib/store/payment-store.js';
import { aPostponement, at, same, type StoreTrial, unique } from './store-trial.js';

const STATES = { u: 'unknown', s: 'succeeded', f: 'failed', r: 'review' } as const;
type Letter = keyof typeof STATES;

/** What is done in another account, too, so that the same ids are there. The rest must change nothing there. */
const DONE_IN_BOTH = ['announce', 'insert', 'publish', 'fan'];

/** What may follow the words of a step: `limit=1`. */
interface Options {
  /** How long a lease is, or until when a delivery is postponed. */
  readonly for?: number;
  readonly limit?: number;
  /** The text of a lease. */
  readonly as?: string;
  /** The types that are asked for. */
  readonly of?: string;
  /** When an event occurred; by default each occurs before the one before it, as where a clock is set back. */
  readonly on?: number;
}

interface Account {
  readonly trial: StoreTrial;
  readonly payments: Map<string, PaymentRecord>;
}

/**
 * Runs steps of the outbox that stand in a line each: `publish pu; take h -> pu; ack h pu`. `pu` is the event `unknown`
 * of the payment p, `ps2` its second `succeeded`, h a handler. After the arrow stands what a step answers. The steps use
 * both connections in turn.
 *
 * Every second script is about refunds. Another account has the same handlers, ids and events.
 */
export class OutboxScript {
  private readonly accounts: readonly [Account, Account];
  private readonly labels = new Map<string, string>();
  private readonly events = new Map<string, LedgerEvent>();
  private readonly handlers = new Map<string, string>();
  private readonly kind: 'payment' | 'refund';
  private steps = 0;

  constructor(trial: StoreTrial, isOfRefunds: boolean) {
    const accountOf = (one: StoreTrial): Account => ({ trial: one, payments: new Map<string, PaymentRecord>() });
    this.accounts = [accountOf(trial), accountOf(trial.in())];
    this.kind = isOfRefunds ? 'refund' : 'payment';
  }

  async run(script: string): Promise<void> {
    const [own, other] = this.accounts;
    for (const step of script.split(';').map((words) => words.trim())) {
      const [words, expected] = step.split('->');
      const [verb, ...rest] = words!.trim().split(' ');
      this.steps += 1;
      const before = await other.trial.counts();
      const answer = await this.do(verb!, rest, own);
      if (expected !== undefined) assert.equal(answer, expected.trim(), `${step} (in: ${script})`);
      if (DONE_IN_BOTH.includes(verb!)) await this.do(verb!, rest, other);
      else if (verb !== 'at') same(await other.trial.counts(), before);
    }
    const drained = [];
    for (const handler of this.handlers.values()) drained.push(...(await other.trial.drain(handler)));
    const { openDeliveries, parkedDeliveries } = await other.trial.counts();
    same([openDeliveries, parkedDeliveries], [0, 0]);
  }

  private async do(verb: string, words: readonly string[], { trial, payments }: Account): Promise<string> {
    const { account } = trial;
    const store = trial.racer(this.steps);
    const { given, options } = parsed(words);
    const [handler = '', label = ''] = given;
    const handlerId = this.handlers.get(handler) ?? unique(`Sipariş.${handler}`);
    const eventId = this.events.get(label)?.eventId ?? 'none:2';
    const { limit = 100, as: lease = 'mine', for: ms = 60_000, of } = options;
    const request = { account, handlerId, lease, leaseMs: ms, limit, types: this.types(of ?? 'usfr') };
    const leased = { account, handlerId, eventId, lease };
    switch (verb) {
      case 'at':
        trial.moveTo(Number(handler));
        return '';
      case 'announce':
        this.handlers.set(handler, handlerId);
        await store.announce(
          account,
          this.types(label).map((type) => ({ handlerId, type })),
        );
        return '';
      case 'insert':
      case 'publish':
        for (const one of given) await this.publish(one, verb === 'insert', options.on, { trial, payments });
        return '';
      case 'fan':
        return String(await store.fanOut(account, limit));
      case 'take':
        await trial.fanOut({ store });
        return this.labelled(await store.leaseDeliveries(request));
      case 'lease':
        return this.labelled(await store.leaseDeliveries(request));
      case 'drain':
        return (await trial.drain(handlerId)).map((id) => this.labels.get(id)).join(' ');
      case 'ack':
        await store.acknowledge(account, handlerId, eventId);
        return '';
      case 'renew':
        return String(await store.renewLease(leased, ms));
      case 'retry':
      case 'park':
        await store.postpone(leased, aPostponement({ retryInMs: ms, parked: verb === 'park' }));
        return '';
      case 'replay':
        return trial.replay(handlerId, eventId, store);
      case 'parked':
        return (await trial.listParked(limit, store)).map(({ event }) => this.labels.get(event.eventId)).join(' ');
      case 'forget':
        await trial.purge({ paymentsMs: null, pairsMs: Number(handler) }, store);
        return '';
      case 'counts': {
        const counts = await trial.counts(store);
        return `${counts.waitingEvents} ${counts.openDeliveries} ${counts.parkedDeliveries} ${counts.orphanedDeliveries}`;
      }
      default:
        throw new Error(`no such step: ${verb}`);
    }
  }

  private async publish(label: string, isInsert: boolean, on = 900 - this.steps, { trial, payments }: Account) {
    const [payment, letter] = [label[0]!, label[1] as Letter];
    const same = this.accounts.map((one) => one.payments.get(payment)).find((one) => one !== undefined);
    const conversationId = same?.conversationId ?? unique(payment);
    // Its versions have one digit and then two; the versions of the payment of a refund say nothing.
    const fields = { conversationId, version: 8, hostIdNonce: payment === 'q' ? '09382017465f' : null };
    const opened = async () =>
      this.kind === 'refund'
        ? trial.refund(await trial.insert({ version: 50 }), { ...fields, referenceLock: null })
        : trial.record(fields);
    const state = STATES[letter];
    let record = payments.get(payment);
    if (!record && isInsert) record = await trial.putWithEvent({ ...(await opened()), state, updatedAt: at(on) });
    else {
      record ??= await trial.put(await opened());
      record = (await trial.publish(record, state, at(on), trial.racer(this.steps))).record;
    }
    payments.set(payment, record);
    const event = trial.event(record, state);
    this.events.set(label, event);
    this.labels.set(event.eventId, label);
  }

  private types(letters: string): LedgerEventType[] {
    const isLetter = (letter: string): letter is Letter => letter in STATES;
    return [...letters].filter(isLetter).map((letter) => `${this.kind}.${STATES[letter]}` as const);
  }

  /** Which they are; those that are due at the same moment come in any order. */
  private labelled(deliveries: readonly Delivery[]): string {
    const labels = deliveries.map(({ event }) => this.labels.get(event.eventId));
    return labels.sort().join(' ');
  }
}

function parsed(words: readonly string[]): { given: readonly string[]; options: Options } {
  const options = words.filter((word) => word.includes('=')).map((word) => word.split('='));
  return {
    given: words.filter((word) => !word.includes('=')),
    options: Object.fromEntries(options.map(([word, value]) => [word, /^\d+$/.test(value!) ? Number(value) : value])),
  };
}

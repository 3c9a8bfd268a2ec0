import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerEvent, LedgerEventType } from '../../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { ALL_STATES, type LedgerState } from '../../../lib/payment/states.js';
import type { Delivery, ListPage, Postponement, StoreCounts } from '../../../lib/store/payment-store.js';
import { aPostponement, at, casesOf, same, scriptsText, type StoreCases, type StoreTrial } from './store-trial.js';

/** What the records of a script are: `p` in `publish pu` is a payment, or a refund of one that was settled long ago. */
type Kind = 'payment' | 'refund';
type Options = Readonly<Record<string, string>>;

/** A call of the store, and what it answers; null where there is nothing to say. */
type Step = (given: readonly string[], options: Options) => Promise<string | null | void>;

interface Account {
  readonly trial: StoreTrial;
  /** As they were written last, by their letters. */
  readonly records: Map<string, PaymentRecord>;
}

/** The keys and tokens that are looked for. */
const KEYS = ['1', '2', '3'];

/** What of a record is given when it is opened, and then stays as it is, or is given up by a minus. */
const OPENING = ['created', 'key', 'token', 'of'];

const EVENT_STATES = { u: 'unknown', s: 'succeeded', f: 'failed', r: 'review' } as const;
type Letter = keyof typeof EVENT_STATES;

const MAX_LINE = 120;

const NO_STEP: Step = () => Promise.reject(new Error('there is no such step'));

/** What is done in another account, too, so that the same ids are there. The rest must change nothing there. */
const DONE_IN_BOTH = ['announce', 'insert', 'publish', 'put', 'set', 'fan'];

/** The fields of a record by their words: times, and texts. A minus is null. */
const TIMES: Options = { due: 'dueAt', final: 'finalizedAt', created: 'createdAt', updated: 'updatedAt' };
const TEXTS: Options = {
  state: 'state',
  ref: 'reference',
  lock: 'referenceLock',
  key: 'idempotencyKey',
  token: 'tokenHash',
};

/**
 * Steps that stand in a line each, or several with semicolons: `publish pu; take h -> pu; ack h pu`. After the arrow
 * stands what a step answers. `pu` is the event `unknown` of the record p, and `ps2` its second `succeeded`; h is a
 * handler. The steps use both connections in turn. Another account has the same handlers, ids and events; `abroad` does
 * a step there alone.
 */
export class StoreScript {
  private readonly own: Account;
  private readonly other: Account | null;
  private readonly labels = new Map<string, string>();
  private readonly eventIds = new Map<string, string>();
  private readonly handlers = new Set<string>();
  /** The other account, since what was done last in both. */
  private untouched: StoreCounts | null = null;
  private count = 0;
  private now = 0;

  constructor(
    trial: StoreTrial,
    private readonly kind: Kind,
    /** Another account on the same store; null for none. */
    other: StoreTrial | null = trial.in(),
  ) {
    this.own = { trial, records: new Map() };
    this.other = other && { trial: other, records: new Map() };
  }

  /** @returns the script with what its steps answer */
  async run(script: string): Promise<string> {
    const lines: string[] = [];
    for (const step of script.split(/;|\n/)) {
      const answered = await this.answered(step.split('->')[0]!.trim());
      const line = [...lines.splice(-1), answered].join('; ');
      lines.push(...(line.length > MAX_LINE ? [line.slice(0, -answered.length - 2), answered] : [line]));
    }
    await this.expectUntouched();
    if (this.other) {
      const { trial } = this.other;
      for (const handlerId of this.handlers) await trial.drain(handlerId);
      const { openDeliveries, parkedDeliveries } = await trial.counts();
      same([openDeliveries, parkedDeliveries], [0, 0]);
    }
    return lines.join('\n');
  }

  async answered(step: string): Promise<string> {
    const [first = '', ...words] = step.split(' ');
    const isAbroad = first === 'abroad';
    const verb = isAbroad ? words.shift()! : first;
    const given = words.filter((word) => !word.includes('='));
    const options: Options = Object.fromEntries(
      words.filter((word) => word.includes('=')).map((word) => word.split('=')),
    );
    this.count += 1;
    const isShared = DONE_IN_BOTH.includes(verb);
    if (isAbroad || isShared || verb === 'at') await this.expectUntouched();
    else this.untouched ??= (await this.other?.trial.counts()) ?? null;
    const answer = await (this.stepsIn(isAbroad ? this.other! : this.own)[verb] ?? NO_STEP)(given, options);
    if (this.other && isShared && !isAbroad) await this.stepsIn(this.other)[verb]!(given, options);
    return typeof answer === 'string' ? `${step} -> ${answer}`.trimEnd() : step;
  }

  private stepsIn(account: Account): Readonly<Record<string, Step>> {
    return { ...this.recordSteps(account), ...this.outboxSteps(account), ...this.countSteps(account) };
  }

  /** What was done in the one account alone has changed nothing in the other. */
  private async expectUntouched(): Promise<void> {
    if (this.untouched) same(await this.other!.trial.counts(), this.untouched);
    this.untouched = null;
  }

  private recordSteps({ trial, records }: Account): Readonly<Record<string, Step>> {
    const store = trial.racer(this.count);
    const account = trial.account;
    const letterOf = new Map([...records].map(([letter, { conversationId }]) => [conversationId, letter]));
    const lettersOf = (found: readonly PaymentRecord[]) =>
      found.map(({ conversationId }) => letterOf.get(conversationId)).join(' ');
    return {
      at: ([ms]) => Promise.resolve(trial.moveTo((this.now = msOf(ms)))),
      // Without its event.
      put: async ([letter], options) => {
        const record = this.opened({ trial, records }, letter!, options);
        const refused = await store.insert(record);
        if (refused === null) records.set(letter!, record);
        return refused;
      },
      set: ([letter], options) => this.replace(letter!, fieldsOf(options), undefined, { trial, records }),
      // A write that was decided before the last one.
      late: async ([letter]) => {
        const last = records.get(letter!);
        return last ? store.replace(last, { ...last, version: last.version - 1 }) : 'none';
      },
      // With its event: its first version, or the next one.
      insert: (labels, options) => this.publish(labels, true, options, { trial, records }),
      publish: (labels, options) => this.publish(labels, false, options, { trial, records }),
      // Everything that shows from outside, of a script that nobody reads.
      look: async () => JSON.stringify(await look(trial)),
      show: async ([letter]) => {
        const record = records.get(letter!)!;
        const [found, versions] = [await trial.find(record), await trial.versions(record)];
        if (!found) return ['gone', ...versions].join(' ');
        same({ ...found, dueAt: null }, { ...record, dueAt: null });
        return `${found.state} ${versions.join(' ')}${found.dueAt ? ` due ${sinceStart(found.dueAt)}` : ''}`;
      },
      due: async ([order], { limit = '100', for: ms = '60000' }) => {
        const leased = await store.leaseDue({ account, leaseMs: msOf(ms), limit: Number(limit) });
        const dueAt = at(this.now + msOf(ms));
        for (const record of leased) same(record, { ...records.get(letterOf.get(record.conversationId)!)!, dueAt });
        return order === 'unordered' ? lettersOf(leased).split(' ').sort().join(' ') : lettersOf(leased);
      },
      back: ([letter, version], { due }) => {
        return store.handBack(account, this.idOf(letter!), Number(version), at(msOf(due)));
      },
      list: async (_given, { type = 'payment', states, ref, limit = '100' }) => {
        const page = { account, type, after: null, limit: Number(limit) } as ListPage;
        const some = states === undefined ? {} : { states: states.split(',') as LedgerState[] };
        return lettersOf(await store.list({ ...page, ...some, ...(ref !== undefined && { reference: ref }) }));
      },
      settled: async ([from, to]) => {
        const period = { from: at(msOf(from)), to: at(msOf(to)) };
        return lettersOf(await store.listSettled({ account, ...period, after: null, limit: 100 }));
      },
      order: async ([reference]) => lettersOf(await store.findByReference(account, reference!)),
      refunds: async ([letter]) => lettersOf(await store.findRefunds(account, records.get(letter!)!.conversationId)),
      // Whether anything holds an order but payments that failed or wait.
      held: async ([reference]) => String(await store.isHeld(account, reference!, ['failed', 'awaiting'])),
    };
  }

  private outboxSteps({ trial }: Account): Readonly<Record<string, Step>> {
    const store = trial.racer(this.count);
    const { account } = trial;
    const handlerOf = (handler = '') => `Sipariş.${handler}:${this.own.trial.account}`;
    const leasedBy = ([handler, label = '']: readonly string[], { as: lease = 'mine' }: Options) => {
      return { account, handlerId: handlerOf(handler), eventId: this.eventIds.get(label) ?? 'none:2', lease };
    };
    const lease: Step = async ([handler], { as = 'mine', for: ms = '60000', limit = '100', of = 'usfr' }) => {
      const request = { account, leaseMs: msOf(ms), limit: Number(limit), lease: as, types: this.typesOf(of) };
      const leased = await store.leaseDeliveries({ ...request, handlerId: handlerOf(handler) });
      // Those that are due at the same moment come in any order.
      return this.labelsOf(leased).sort().join(' ');
    };
    const postpone =
      (to: Partial<Postponement>): Step =>
      (given, options) =>
        store.postpone(leasedBy(given, options), aPostponement({ ...to, retryInMs: msOf(options['for'] ?? '60000') }));
    const listed =
      (parked: boolean): Step =>
      async (given, { limit = '100' }) => {
        const ids = given.map((letter) => this.own.records.get(letter)!.conversationId);
        const page = { account, parked, after: null, limit: Number(limit), ...(ids.length > 0 && { ids }) };
        return this.labelsOf(await store.listDeliveries(page)).join(' ');
      };
    return {
      announce: ([handler, letters = '']) => {
        const handlerId = handlerOf(handler);
        this.handlers.add(handlerId);
        const pairs = this.typesOf(letters).map((type) => ({ handlerId, type }));
        return store.announce(account, pairs);
      },
      fan: async (_given, { limit = '100' }) => String(await store.fanOut(account, Number(limit))),
      take: async (given, options) => {
        await trial.fanOut({ store });
        return lease(given, options);
      },
      lease,
      drain: async ([handler]) =>
        (await trial.drain(handlerOf(handler))).map((eventId) => this.labels.get(eventId)).join(' '),
      ack: ([handler, label = '']) =>
        store.acknowledge(account, handlerOf(handler), this.eventIds.get(label) ?? 'none:2'),
      renew: async (given, options) =>
        String(await store.renewLease(leasedBy(given, options), msOf(options['for'] ?? '60000'))),
      retry: postpone({ parked: false }),
      park: postpone({ parked: true }),
      replay: (given) => trial.replay(handlerOf(given[0]), leasedBy(given, {}).eventId, store),
      open: listed(false),
      parked: listed(true),
    };
  }

  private countSteps({ trial }: Account): Readonly<Record<string, Step>> {
    const store = trial.racer(this.count);
    return {
      // How many payments and events, and how many of these no handler ever took.
      purge: async (_given, { payments = '0', pairs = '3650d', keys = '3650d' }) => {
        const retention = { paymentsMs: payments === '-' ? null : msOf(payments), pairsMs: msOf(pairs) };
        const purged = await trial.purge({ ...retention, keysMs: msOf(keys) }, store);
        return Object.values(purged).join(' ');
      },
      // Events that wait, and deliveries that are open, parked and orphaned.
      counts: async () => {
        const counts = await trial.counts(store);
        const { waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries } = counts;
        return [waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries].join(' ');
      },
      // How many payments, or refunds, are in these states, and when the oldest of them was changed.
      states: async (given, { of }) => {
        const counts = await trial.counts(store);
        same([Object.keys(counts.states), Object.keys(counts.refunds)], [ALL_STATES, ALL_STATES]);
        const counted = given.map((state) => counts[of === 'refunds' ? 'refunds' : 'states'][state as LedgerState]);
        return counted.map(({ count, oldest }) => `${count} since ${oldest ? sinceStart(oldest) : 'never'}`).join(', ');
      },
    };
  }

  /** Of the record of a letter, whose id is the same in both accounts. Its versions have one digit and then two. */
  private opened({ trial, records }: Account, letter: string, { of, ...options }: Options): PaymentRecord {
    const conversationId = this.idOf(letter);
    const fields = { conversationId, version: 8, hostIdNonce: letter === 'q' ? '09382017465f' : null };
    if (of === undefined) return trial.record({ ...fields, ...fieldsOf(options) });
    const parent = records.get(of) ?? trial.record({ conversationId: this.idOf(of) });
    const payment = { ...parent, conversationId: parent.parentId ?? parent.conversationId };
    return trial.refund(payment, { ...fields, referenceLock: null, ...fieldsOf(options) });
  }

  private idOf(letter: string): string {
    return `${letter}-${this.own.trial.account}`;
  }

  /** @returns why it was refused */
  private async publish(
    labels: readonly string[],
    isInsert: boolean,
    { on, ...options }: Options,
    { trial, records }: Account,
  ): Promise<string | null> {
    let refused: string | null = null;
    const isOpening = ([word, value]: [string, string]) => OPENING.includes(word) && value !== '-';
    const opening = Object.fromEntries(Object.entries(options).filter(isOpening));
    const changing = Object.fromEntries(Object.entries(options).filter((option) => !isOpening(option)));
    for (const label of labels) {
      const [letter, state] = [label[0]!, EVENT_STATES[label[1] as Letter]];
      // By default each occurs before the one before it, as where a clock is set back.
      const updatedAt = at(on === undefined ? 900 - this.count : msOf(on));
      const changes = { ...fieldsOf(changing), state, updatedAt };
      let isWritten = false;
      if (!records.has(letter)) {
        const opened = await this.openedInKind(letter, opening, { trial, records });
        const first = isInsert ? { ...opened, ...changes } : opened;
        refused = await trial.racer(this.count).insert(first, isInsert ? trial.event(first, state) : undefined);
        if (refused !== null) continue;
        records.set(letter, first);
        isWritten = isInsert;
      }
      const last = records.get(letter)!;
      if (!isWritten) {
        const event = trial.event(trial.next(last, changes), state);
        refused = await this.replace(letter, changes, event, { trial, records });
      }
      const { eventId } = trial.event(records.get(letter) ?? last, state);
      this.eventIds.set(label, eventId);
      this.labels.set(eventId, label);
    }
    return refused;
  }

  private async openedInKind(letter: string, options: Options, account: Account): Promise<PaymentRecord> {
    const record = this.opened(account, letter, options);
    if (this.kind === 'payment') return record;
    // Its payment's versions say nothing.
    const payment = await account.trial.insert({ state: 'succeeded', finalizedAt: at(0), version: 50 });
    return account.trial.refund(payment, {
      ...record,
      state: 'refunding',
      parentId: payment.conversationId,
      kind: 'refund',
    });
  }

  /** @returns why it was refused */
  private async replace(
    letter: string,
    changes: Partial<PaymentRecord>,
    event: LedgerEvent | undefined,
    { trial, records }: Account,
  ): Promise<string | null> {
    const last = records.get(letter)!;
    const next = trial.next(last, last.pinsReference ? { ...changes, referenceLock: null } : changes);
    const outcome = await trial.tryReplace(next, last, event, trial.racer(this.count));
    if (outcome === 'replaced') records.set(letter, next);
    else if ((await trial.find(next)) === null) records.delete(letter);
    return outcome === 'replaced' ? null : outcome;
  }

  /** A capital letter is of refunds. */
  private typesOf(letters: string): LedgerEventType[] {
    return [...letters].flatMap((letter) => {
      const state = EVENT_STATES[letter.toLowerCase() as Letter] as (typeof EVENT_STATES)[Letter] | undefined;
      const kind = letter === letter.toUpperCase() ? 'refund' : this.kind;
      return state === undefined ? [] : [`${kind}.${state}` as const];
    });
  }

  private labelsOf(deliveries: readonly Delivery[]): (string | undefined)[] {
    return deliveries.map(({ event }) => this.labels.get(event.eventId));
  }
}

async function look({ store, account }: StoreTrial): Promise<unknown> {
  const page = { account, after: null, limit: 100 };
  const types = ['payment', 'refund'] as const;
  const records = await Promise.all(types.map((type) => store.list({ ...page, type })));
  const all = records.flat();
  return {
    counts: await store.counts(account),
    records,
    refunds: await Promise.all(all.map((record) => store.findRefunds(account, record.conversationId))),
    parked: await store.listDeliveries({ ...page, parked: true }),
    open: await store.listDeliveries({ ...page, parked: false }),
    keys: await Promise.all(types.flatMap((type) => KEYS.map((key) => store.findByIdempotencyKey(account, type, key)))),
    tokens: await Promise.all(KEYS.map((key) => store.findByTokenHash(account, key))),
    lock: await store.findByReferenceLock(account, 'R'),
    held: await store.isHeld(account, 'R', ['unknown', 'review']),
    order: await store.findByReference(account, 'R'),
  };
}

function fieldsOf(options: Options): Partial<PaymentRecord> {
  const fields = Object.entries(options).map(([word, value]) => {
    if (word === 'pin') return ['pinsReference', true];
    const time = TIMES[word];
    return [time ?? TEXTS[word], value === '-' ? null : time === undefined ? value : at(msOf(value))];
  });
  return Object.fromEntries(fields) as Partial<PaymentRecord>;
}

/** `30d+1` is a millisecond after thirty days. */
function msOf(text = ''): number {
  const parts = text.match(/-?\d+d?/g) ?? [];
  return parts.reduce((sum, part) => sum + (part.endsWith('d') ? 86_400_000 : 1) * parseInt(part, 10), 0);
}

function sinceStart(time: Date): number {
  return time.getTime() - at(0).getTime();
}

/** The scripts of a file. For a new one write its promise and steps; UPDATE_EXPECTED=1 writes what these answer. */
function scriptsIn(file: string): { readonly promise: string; readonly steps: string }[] {
  const sections = scriptsText(file).trimEnd().split('\n\n');
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return { promise: heading.replace('# ', ''), steps: lines.join('\n') };
  });
}

function casesIn(file: string, kindsOf: (index: number) => readonly Kind[]): StoreCases {
  const played = scriptsIn(file).flatMap((script, index) => kindsOf(index).map((kind) => ({ ...script, kind })));
  return casesOf(played, ({ promise, steps, kind }) => [
    kind === 'payment' ? promise : `${promise}, of refunds`,
    async (trial) => {
      const answered = await new StoreScript(trial, kind).run(steps);
      if (process.env['UPDATE_EXPECTED'] !== '1') return assert.equal(answered, steps);
      const text = scriptsText(file).replace(`${promise}\n${steps}`, () => `${promise}\n${answered}`);
      writeFileSync(join(import.meta.dirname, 'scripts', file), text);
    },
  ]);
}

export const scriptCases: StoreCases = {
  ...casesIn('records.txt', () => ['payment']),
  ...casesIn('outbox.txt', (index) => [index % 2 === 1 ? 'refund' : 'payment']),
  ...casesIn('purge.txt', () => ['payment', 'refund']),
};

import assert from 'node:assert/strict';
import { ledgerEventOf } from '../../../lib/payment/payment-event.js';
import { pinReference } from '../../../lib/payment/transitions.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import type { PaymentStore, UniqueKey } from '../../../lib/store/payment-store.js';
import { at, casesOf, same, type StoreCases, scriptsText, type StoreTrial, unique } from './store-trial.js';

const NAMES = ['conversationId', 'idempotencyKey', 'tokenHash', 'referenceLock'] as const satisfies UniqueKey[];
const HOST_ID_NONCE = '09382017465f';
const NONE = { idempotencyKey: null, tokenHash: null, referenceLock: null };

type Names = Readonly<Record<UniqueKey, string>>;

/** What happens, and who has each name afterwards. The file says what its words mean. */
const TABLE = scriptsText('unique-names.txt')
  .split('\n')
  .filter((line) => line.includes(' => '))
  .map((line) => line.split(' => ') as [steps: string, havers: string]);

/** A payment for each letter, which shares names with the others. */
class Script {
  readonly names: Names = {
    conversationId: unique('kimlik 🪪'),
    idempotencyKey: unique('anahtar 🔑'),
    tokenHash: unique('token'),
    referenceLock: unique('sipariş 📌'),
  };
  /** The versions of each that are stored. */
  readonly stored = new Map<string, PaymentRecord[]>();
  private readonly abroad: StoreTrial;
  private seconds = 0;

  constructor(private readonly trial: StoreTrial) {
    this.abroad = trial.in();
  }

  async run(step: string): Promise<void> {
    const ms = (this.seconds += 1) * 1_000;
    this.trial.moveTo(ms);
    const [words, outcome = 'written'] = step.split(' -> ');
    const [verb, who, when] = words!.split(' ').reverse();
    const where = who === 'abroad' ? this.abroad : this.trial;
    if (verb === 'purge') await where.purge();
    else if (verb === 'forget') await where.purge({ paymentsMs: null, keysMs: 999 });
    else if (verb === 'remember') await where.purge({ paymentsMs: null, keysMs: 1_001 });
    else assert.equal(await this.write(who!, verb!, when), outcome, step);
  }

  private async write(who: string, verb: string, when?: string): Promise<string> {
    const { conversationId, referenceLock: reference, ...keys } = this.names;
    const isRefund = who === 'R' || who === 'I';
    const before = who === 'D' ? 'refund/' : '';
    const names = {
      idempotencyKey: before + keys.idempotencyKey,
      tokenHash: isRefund ? null : before + keys.tokenHash,
      referenceLock: before + reference,
    };
    const store = this.trial.racer(this.seconds);
    const versions = this.stored.get(who) ?? [];
    const last = versions.at(-1) ?? this.trial.record({ version: 0 });
    const read = { late: versions.at(-2), ahead: { ...last, version: last.version + 1 } }[when ?? ''] ?? last;
    if (isRefund && versions.length === 0) await this.trial.insert({ conversationId: reference });
    const opened = this.trial.record({
      account: who === 'S' ? this.abroad.account : this.trial.account,
      conversationId: ['B', 'C', 'D', 'R'].includes(who) ? unique('other') : conversationId,
      reference: who === 'C' ? unique('other') : before + reference,
      hostIdNonce: who === 'M' ? null : who === 'O' ? undefined : HOST_ID_NONCE,
      ...(isRefund && { kind: 'refund', parentId: reference }),
    });
    const next = {
      opens: opened,
      inserts: { ...opened, ...names },
      takes: this.trial.next(read, names),
      claims: this.trial.next(read, { referenceLock: reference }),
      drops: this.trial.next(read, NONE),
      changes: this.trial.next(read),
      pins: pinReference(this.trial.next(read, { state: 'review' })),
      ends: this.trial.next(read, { state: 'failed', finalizedAt: at(this.seconds * 1_000) }),
    }[verb]!;
    const isNew = verb === 'opens' || verb === 'inserts';
    const refusal = isNew ? await store.insert(next) : await this.trial.tryReplace(next, read, undefined, store);
    if (refusal === null || refusal === 'replaced') this.stored.set(who, [...versions, next]);
    // Whether it was written or not, its line of history is there as often as it is itself.
    const now = this.stored.get(who) ?? [];
    if (refusal === 'conversationId') return refusal;
    same(await this.trial.find(next), now.at(-1) ?? null);
    same(
      await this.trial.versions(next),
      now.map(({ version }) => version),
    );
    return refusal === null || refusal === 'replaced' ? 'written' : refusal;
  }
}

/** That a name is free, which ends with two payments having had it. */
async function expectFree(trial: StoreTrial, name: UniqueKey, value: string): Promise<void> {
  same(await lookUp(trial.second, trial, name, value), null);
  const one = await trial.insert({ hostIdNonce: HOST_ID_NONCE, [name]: value });
  if (name === 'conversationId') return;
  const other = await trial.insert();
  await trial.replace(one, { [name]: null });
  const claimed = await trial.replace(other, { [name]: value }, undefined, trial.second);
  same(await lookUp(trial.store, trial, name, value), claimed);
}

/** That nobody can take a name, and that whoever tries changes nothing and keeps no other name. */
async function expectTaken(trial: StoreTrial, name: UniqueKey, value: string, holder?: PaymentRecord): Promise<void> {
  const store = trial.racer(NAMES.indexOf(name));
  const isShown = name === 'idempotencyKey' || name === 'referenceLock';
  same(await lookUp(store, trial, name, value), holder ?? (isShown ? 'purged' : null));
  const others: Names = {
    conversationId: unique('other'),
    idempotencyKey: unique('key'),
    tokenHash: unique('token'),
    referenceLock: unique('lock'),
  };
  const rival = trial.record({
    hostIdNonce: HOST_ID_NONCE,
    state: 'unknown',
    dueAt: at(0),
    ...others,
    [name]: value,
  });
  const open = await trial.insert({ tokenHash: unique('token') });
  const before = await trial.counts(store);
  assert.equal(await store.insert(rival, ledgerEventOf(rival)), name);
  if (name !== 'conversationId') await trial.expectGone(rival);
  // No payment takes the key of a purged one by a replace.
  if (name === 'referenceLock' || (name !== 'conversationId' && holder)) {
    const claim = { ...rival, conversationId: open.conversationId, version: 2, hostIdNonce: null };
    const claimed = trial.tryReplace(claim, open, ledgerEventOf(claim), store);
    if (name === 'referenceLock') assert.equal(await claimed, 'locked');
    else await assert.rejects(claimed);
  }
  await trial.expectStored(open);
  same([await trial.versions(open), await trial.leaseDue(), await trial.counts(store)], [[1], [], before]);
  await trial.insert({ ...others, [name]: name === 'conversationId' ? unique('other') : null });
  if (holder) await trial.expectStored(holder);
}

async function lookUp(store: PaymentStore, { account }: StoreTrial, name: UniqueKey, value: string) {
  if (name === 'conversationId') return store.find(account, value);
  if (name === 'tokenHash') return store.findByTokenHash(account, value);
  return name === 'idempotencyKey'
    ? store.findByIdempotencyKey(account, 'payment', value)
    : store.findByReferenceLock(account, value);
}

/** The names that must be unique in an account: whoever has one, nobody else gets it. */
export const uniqueNameCases: StoreCases = casesOf(TABLE, ([steps, havers]) => [
  `${steps}: its id, key, token and lock are then of ${havers}`,
  async (trial) => {
    const script = new Script(trial);
    for (const step of steps.split('; ')) await script.run(step);
    for (const [index, name] of NAMES.entries()) {
      const [haver, value] = [havers.split(' ')[index]!, script.names[name]];
      const holder = script.stored.get(haver)?.at(-1);
      if (haver === 'free') await expectFree(trial, name, value);
      else await expectTaken(trial, name, value, holder);
    }
  },
]);

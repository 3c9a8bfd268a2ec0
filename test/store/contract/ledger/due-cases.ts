import assert from 'node:assert/strict';
import { at, ids, type PaymentStoreCase, same } from '../store-trial.js';

/** Leasing payments that are due, and handing them back. */
export const dueCases: readonly PaymentStoreCase[] = [
  {
    name: 'leaseDue gives the payments that are due by the store’s time, the longest due first, up to the limit',
    async run(trial) {
      const third = await trial.insert({ dueAt: at(300) });
      const first = await trial.insert({ dueAt: at(100) });
      await trial.insert({ dueAt: at(301) });
      await trial.insert({ dueAt: null });
      const second = await trial.insert({ dueAt: at(200) });
      same(await trial.leaseDue(), []);
      trial.moveTo(300);
      same(ids(await trial.leaseDue({ limit: 2 })), ids([first, second]));
      same(ids(await trial.leaseDue({ limit: 2 })), ids([third]));
      same(await trial.leaseDue(), []);
    },
  },
  {
    name: 'leaseDue moves dueAt to the end of the lease, when the payment is due again, and changes nothing else',
    async run(trial) {
      const record = trial.fullRecord({ dueAt: at(1) });
      await trial.put(record);
      trial.moveTo(10);
      const inLease = { ...record, dueAt: at(500) };
      same(await trial.leaseDue({ leaseMs: 490 }), [inLease]);
      same(await trial.find(record), inLease);
      same(await trial.versions(record), [7]);
      trial.moveTo(499);
      same(await trial.leaseDue({ store: trial.second }), []);
      trial.moveTo(500);
      same(await trial.leaseDue({ leaseMs: 400, store: trial.second }), [{ ...record, dueAt: at(900) }]);
    },
  },
  {
    name: 'a leased payment can be replaced',
    async run(trial) {
      await trial.insert({ dueAt: at(0) });
      const [due] = await trial.leaseDue();
      const next = trial.next(due!, { state: 'expired', dueAt: null });
      assert.equal(await trial.store.replace(next, due!), 'replaced');
      same(await trial.find(next), next);
      trial.moveTo(1_000_000);
      same(await trial.leaseDue(), []);
    },
  },
  {
    name: 'concurrent calls of leaseDue never lease the same payment',
    async run(trial) {
      const records = await Promise.all(Array.from({ length: 40 }, (_, index) => trial.insert({ dueAt: at(index) })));
      trial.moveTo(100);
      const found: string[] = [];
      while (found.length < records.length) {
        const batches = await trial.race((store) => trial.leaseDue({ limit: 6, store }), 8);
        const leasedIds = batches.flatMap(ids);
        assert.ok(batches.every((batch) => batch.length <= 6));
        assert.ok(leasedIds.length > 0, 'what is due and free must be leased in the end');
        found.push(...leasedIds);
      }
      same(found.sort(), ids(records).sort());
    },
  },
  {
    name: 'leaseDue gives nothing of another account',
    async run(trial) {
      await trial.insert({ dueAt: at(0) });
      same(await trial.store.leaseDue({ account: `${trial.account}-other`, leaseMs: 1, limit: 10 }), []);
    },
  },
  {
    name: 'handBack makes a payment due at the given time, unless its version has changed',
    async run(trial) {
      const record = await trial.insert({ dueAt: at(0) });
      const back = (version: number, dueAt: Date) =>
        trial.store.handBack(trial.account, record.conversationId, version, dueAt);
      await trial.leaseDue({ leaseMs: 1_000 });
      await back(1, at(5));
      same(await trial.find(record), { ...record, dueAt: at(5) });
      trial.moveTo(4);
      same(await trial.leaseDue(), []);
      trial.moveTo(5);
      same(ids(await trial.leaseDue({ leaseMs: 1_000 })), ids([record]));

      const moved = await trial.replace(record, { dueAt: at(700) });
      await back(1, at(6));
      same(await trial.find(record), moved);
      await trial.store.handBack(trial.account, 'none', 1, at(6));
      await trial.store.handBack(`${trial.account}-other`, record.conversationId, 2, at(6));
      trial.moveTo(600);
      same(await trial.leaseDue(), []);
    },
  },
];

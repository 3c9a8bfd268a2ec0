import assert from 'node:assert/strict';
import { at, ids, type PaymentStoreCase } from './store-trial.js';

/** Leasing payments that are due, and handing them back. */
export const dueCases: readonly PaymentStoreCase[] = [
  {
    name: 'leaseDue: what has come due, the longest due first, up to the limit',
    async run(trial) {
      const third = await trial.insert({ dueAt: at(300) });
      const first = await trial.insert({ dueAt: at(100) });
      await trial.insert({ dueAt: at(301) });
      await trial.insert({ dueAt: null });
      const second = await trial.insert({ dueAt: at(200) });
      assert.deepEqual(ids(await trial.leaseDue(at(300), { limit: 2 })), ids([first, second]));
      assert.deepEqual(ids(await trial.leaseDue(at(300), { limit: 2 })), ids([third]));
      assert.deepEqual(await trial.leaseDue(at(300)), []);
    },
  },
  {
    name: 'leaseDue: moves dueAt to the end of the lease, where it is due again, and changes nothing else',
    async run(trial) {
      const record = trial.fullRecord({ dueAt: at(1) });
      assert.equal(await trial.store.insert(record), null);
      const leased = { ...record, dueAt: at(500) };
      assert.deepEqual(await trial.leaseDue(at(1), { until: at(500) }), [leased]);
      assert.deepEqual(await trial.find(record), leased);
      assert.deepEqual(await trial.versions(record), [7]);
      assert.deepEqual(await trial.leaseDue(at(499), { store: trial.second }), []);
      assert.deepEqual(await trial.leaseDue(at(500), { until: at(900), store: trial.second }), [
        { ...record, dueAt: at(900) },
      ]);
    },
  },
  {
    name: 'leaseDue: whoever holds a lease can replace the record',
    async run(trial) {
      await trial.insert({ dueAt: at(1) });
      const [leased] = await trial.leaseDue(at(1));
      const next = trial.next(leased!, { state: 'expired', dueAt: null });
      assert.equal(await trial.store.replace(next, leased!.version), 'replaced');
      assert.deepEqual(await trial.find(next), next);
      assert.deepEqual(await trial.leaseDue(at(1_000_000)), []);
    },
  },
  {
    name: 'leaseDue: nobody gets what another has leased',
    async run(trial) {
      const records = await Promise.all(Array.from({ length: 40 }, (_, index) => trial.insert({ dueAt: at(index) })));
      const leased: string[] = [];
      while (leased.length < records.length) {
        const batches = await trial.race((store) => trial.leaseDue(at(100), { limit: 6, store }), 8);
        const found = batches.flatMap(ids);
        assert.ok(batches.every((batch) => batch.length <= 6));
        assert.ok(found.length > 0, 'what is due and free must be leased in the end');
        leased.push(...found);
      }
      assert.deepEqual(leased.sort(), ids(records).sort());
    },
  },
  {
    name: 'leaseDue: of another account nothing',
    async run(trial) {
      await trial.insert({ dueAt: at(1) });
      const lease = { account: `${trial.account}-other`, now: at(2), until: at(3), limit: 10 };
      assert.deepEqual(await trial.store.leaseDue(lease), []);
    },
  },
  {
    name: 'handBack: makes it due then, unless it has moved on',
    async run(trial) {
      const record = await trial.insert({ dueAt: at(1) });
      const back = (version: number, dueAt: Date) =>
        trial.store.handBack(trial.account, record.conversationId, version, dueAt);
      await trial.leaseDue(at(1), { until: at(1_000) });
      await back(1, at(5));
      assert.deepEqual(await trial.find(record), { ...record, dueAt: at(5) });
      assert.deepEqual(ids(await trial.leaseDue(at(5), { until: at(1_000) })), ids([record]));

      const moved = await trial.replace(record, { dueAt: at(700) });
      await back(1, at(6));
      assert.deepEqual(await trial.find(record), moved);
      await trial.store.handBack(trial.account, 'none', 1, at(6));
      assert.deepEqual(await trial.leaseDue(at(600)), []);
    },
  },
];

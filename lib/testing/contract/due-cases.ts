import assert from 'node:assert/strict';
import { at, ids, type PaymentStoreCase } from './store-trial.js';
import { same } from './same.js';

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
      same(ids(await trial.leaseDue(at(300), { limit: 2 })), ids([first, second]));
      same(ids(await trial.leaseDue(at(300), { limit: 2 })), ids([third]));
      same(await trial.leaseDue(at(300)), []);
    },
  },
  {
    name: 'leaseDue: moves dueAt to the end of the lease, where it is due again, and changes nothing else',
    async run(trial) {
      const record = trial.fullRecord({ dueAt: at(1) });
      assert.equal(await trial.store.insert(record), null);
      const leased = { ...record, dueAt: at(500) };
      same(await trial.leaseDue(at(1), { until: at(500) }), [leased]);
      same(await trial.find(record), leased);
      same(await trial.versions(record), [7]);
      same(await trial.leaseDue(at(499), { store: trial.second }), []);
      same(await trial.leaseDue(at(500), { until: at(900), store: trial.second }), [{ ...record, dueAt: at(900) }]);
    },
  },
  {
    name: 'leaseDue: whoever holds a lease can replace the record',
    async run(trial) {
      await trial.insert({ dueAt: at(1) });
      const [leased] = await trial.leaseDue(at(1));
      const next = trial.next(leased!, { state: 'expired', dueAt: null });
      assert.equal(await trial.store.replace(next, leased!.version), 'replaced');
      same(await trial.find(next), next);
      same(await trial.leaseDue(at(1_000_000)), []);
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
      same(leased.sort(), ids(records).sort());
    },
  },
  {
    name: 'leaseDue: of another account nothing',
    async run(trial) {
      await trial.insert({ dueAt: at(1) });
      const lease = { account: `${trial.account}-other`, now: at(2), until: at(3), limit: 10 };
      same(await trial.store.leaseDue(lease), []);
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
      same(await trial.find(record), { ...record, dueAt: at(5) });
      same(ids(await trial.leaseDue(at(5), { until: at(1_000) })), ids([record]));

      const moved = await trial.replace(record, { dueAt: at(700) });
      await back(1, at(6));
      same(await trial.find(record), moved);
      await trial.store.handBack(trial.account, 'none', 1, at(6));
      same(await trial.leaseDue(at(600)), []);
    },
  },
];

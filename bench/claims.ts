import type { PaymentRecord, PaymentStore } from 'nestjs-card-payment';
import { postgresSubject } from './claims/postgres-subject.js';
import { sqliteSubject } from './claims/sqlite-subject.js';
import { awaitingRecord, claimedRecord } from './records.js';
import { median, printTable } from './table.js';

const ROUNDS = 7;
const CLAIMS = 150;
const AT_ONCE = 10;
const WARM_UP = 1;

/** Claims per second (the compare-and-set that grants the right to call Auth3d), by the store and by its bare driver. */
export async function benchClaims(): Promise<void> {
  const rows: (string | number)[][] = [];
  const starts = [() => sqliteSubject('each'), () => sqliteSubject('shared'), postgresSubject];
  for (const start of starts) {
    const subject = await start();
    const { store, twin } = await subject.openStores();
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const records = Array.from({ length: CLAIMS }, (_, i) => awaitingRecord((round + WARM_UP) * CLAIMS + i));
      await atOnce(records.flatMap((record) => [() => store.insert(record), () => twin.insert(record)]));
      const runs = [
        { by: ours, claims: records.map((record) => () => store.replace(claimedRecord(record), record.version)) },
        { by: bare, claims: await subject.bareClaims(records) },
      ];
      // The two take turns in going first.
      for (const { by, claims } of round % 2 === 0 ? runs : runs.reverse()) {
        const aSecond = await perSecond(claims);
        if (round >= 0) by.push(aSecond);
      }
      await expectClaimed(twin, records);
    }
    const ratios = ours.map((aSecond, round) => aSecond / bare[round]!);
    rows.push([
      subject.name,
      Math.round(median(ours)),
      Math.round(median(bare)),
      median(ratios).toFixed(2),
      Math.min(...ratios).toFixed(2),
    ]);
    await store.close();
    await twin.close();
    await subject.close();
  }
  printTable(
    `Claims a second, ${AT_ONCE} at once, ${ROUNDS} rounds of ${CLAIMS}`,
    ['store', 'median', 'bare driver', 'ratio, median', 'ratio, least'],
    rows,
  );
}

async function perSecond(claims: readonly (() => Promise<unknown>)[]): Promise<number> {
  const began = performance.now();
  await atOnce(claims);
  return (claims.length * 1000) / (performance.now() - began);
}

async function atOnce(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
  const queue = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = queue.shift(); task; task = queue.shift()) await task();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Checks that the bare driver did the same work. */
async function expectClaimed(store: PaymentStore, records: readonly PaymentRecord[]): Promise<void> {
  for (const { account, conversationId } of records) {
    if ((await store.find(account, conversationId))?.state !== 'authorizing') throw new Error('a claim was not made');
  }
}

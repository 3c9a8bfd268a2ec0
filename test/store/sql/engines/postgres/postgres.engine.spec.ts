import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { paymentSchema } from '../../../../../lib/store/sql/index.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { type Session, SQL_SERVERS } from '../../../../rigs/sql-servers.js';
import { suiteStore } from '../../../../rigs/suite-stores.js';
import { StoreTrial } from '../../../contract/store-trial.js';

describe('on a server', () => {
  let url: string;
  let session: Session;

  beforeEach(async () => {
    url = await (await suiteStore('PostgreSQL')).create();
    session = await SQL_SERVERS.PostgreSQL.connect(url);
  });
  afterEach(() => session.end());

  test('a store of its URL makes its tables, and has the time of the server', async () => {
    const store = await openedStoreAt(url);
    const serverTime = async () => {
      const [row] = await session.run('select extract(epoch from clock_timestamp()) * 1000 as ms');
      return Number((row as { ms: string }).ms);
    };
    const before = await serverTime();
    const now = (await store.now()).getTime();
    expect(now).toBeGreaterThanOrEqual(Math.floor(before));
    expect(now).toBeLessThanOrEqual(await serverTime());
    const [applied] = (await session.run('select applied_at from card_payment_schema_version')) as [object];
    expect(Math.abs(Number((applied as { applied_at: string }).applied_at) - now)).toBeLessThan(60_000);
    const trial = new StoreTrial(store, store, new TestClock());
    const handler = await trial.handler('payment.failed');
    await trial.announce(handler, 'payment.failed');
    const { event } = await trial.publish(await trial.insert(), 'failed', new Date());
    expect(await trial.drain(handler)).toEqual([event.eventId]);
    await store.close();
  });

  test.each([
    [
      'off',
      ['The payment store: synchronous_commit is off: a crash of the server can lose payments that were reported'],
    ],
    ['local', []],
  ])('with synchronous_commit %s it warns of what a crash loses', async (value, expected) => {
    await session.run(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = ${value}`);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await (await openedStoreAt(url)).close();
    expect(warn.mock.calls.map(([text]) => String(text).split(' as stored')[0])).toEqual(expected);
  });

  test('keys are compared byte by byte', async () => {
    await session.run(paymentSchema('postgres'));
    const collations = `select distinct collation_name from information_schema.columns
       where table_name like 'card\\_payment%' and column_name in ('account', 'conversation_id', 'state', 'event_id')`;
    expect(await session.run(collations)).toEqual([{ collation_name: 'C' }]);
  });

  test('tables count only where their names lead to them', async () => {
    const elsewhere = ['schema_version', 'migration'].map(
      (name) => `create table elsewhere.card_payment_${name} (a int)`,
    );
    await session.run(['create schema elsewhere', ...elsewhere].join('; '));
    for (const mustExist of [false, true]) await (await openedStoreAt(url, { mustExist })).close();
    const made = `select version from public.card_payment_schema_version`;
    expect(await session.run(made)).toEqual([{ version: 1 }]);
  });
});

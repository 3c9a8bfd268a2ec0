import pg from 'pg';
import { type PostgresPair, startPostgresPair } from './postgres-pair.js';
import { postgres18, queryPostgres } from './postgres.js';
import { until } from './until.js';

let pair: PostgresPair;
let url: string;

async function start(options: Parameters<typeof startPostgresPair>[0] = {}): Promise<void> {
  pair = await startPostgresPair(options);
  url = await pair.createDatabase();
  await queryPostgres(url, 'create table t (id int)');
}

describe('postgres pair', () => {
  afterEach(() => pair.stop());

  const insert = (id: number) => queryPostgres(url, `insert into t values (${id})`);
  const ids = async () => (await queryPostgres(url, 'select id from t order by id')).map(({ id }) => id);

  test.each([
    ['the installed version', () => ({})],
    ['version 18', () => ({ binaries: postgres18() })],
  ])('a standby of %s has every write of the killed primary', async (_, options) => {
    await start(options());
    await insert(1);
    await pair.killPrimary();
    await expect(insert(2)).rejects.toThrow();
    await pair.promote();
    pair.moveAddress();
    expect(await ids()).toEqual([1]);
    await insert(2);
    expect(await ids()).toEqual([1, 2]);
  });

  test('a standby refuses to write until it is promoted, and the connections to the old primary are broken', async () => {
    await start();
    await insert(1);
    const client = new pg.Client({ connectionString: url });
    let broken = false;
    client.on('error', () => (broken = true));
    await client.connect();
    await pair.freezePrimary();
    pair.moveAddress();
    await until(() => broken);
    // A commit waits until the standby has it, but not until it can be read there.
    await until(async () => (await ids().catch(() => [])).length === 1);
    await expect(insert(2)).rejects.toMatchObject({ code: '25006' });
    await pair.promote();
    await insert(2);
    await pair.thawPrimary();
    expect(await ids()).toEqual([1, 2]);
  });

  test('a primary that is shut down tells its sessions 57P01', async () => {
    await start();
    await insert(1);
    const client = new pg.Client({ connectionString: url });
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error));
    await client.connect();
    await pair.shutDownPrimary();
    await until(() => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: '57P01' });
    await pair.promote();
    pair.moveAddress();
    expect(await ids()).toEqual([1]);
  });

  test('a commit waits for a synchronous standby', async () => {
    await start();
    await pair.cutReplication();
    const insertion = insert(1);
    await until(async () => {
      const waiting = `select from pg_stat_activity where wait_event = 'SyncRep' and query like 'insert%'`;
      return (await queryPostgres(url, waiting)).length === 1;
    });
    expect(await ids()).toEqual([]);
    await pair.restoreReplication();
    await insertion;
    expect(await ids()).toEqual([1]);
  });

  test('an asynchronous standby lacks what was committed after it was cut off', async () => {
    await start({ synchronous: false });
    await insert(1);
    await pair.caughtUp();
    await pair.cutReplication();
    await insert(2);
    await pair.killPrimary();
    await pair.promote();
    pair.moveAddress();
    expect(await ids()).toEqual([1]);
  });
});

import { jest } from '@jest/globals';
import * as kysely from 'kysely';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { postgresAccess, SESSION_LIMITS } from '../../../../../lib/store/sql/engines/postgres.js';
import type { SqlAccess } from '../../../../../lib/store/sql/engine.js';
import { type PgBouncer, startPgBouncer } from '../../../../services/pgbouncer.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';

let postgres: Postgres;
let bouncer: PgBouncer;
/** One that passes over the limits without a word. */
let deaf: PgBouncer;
const opened: Kysely<object>[] = [];

describe('postgres pool', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    bouncer = await startPgBouncer(postgres.url);
    deaf = await startPgBouncer(postgres.url, { ignore_startup_parameters: Object.keys(SESSION_LIMITS).join() });
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.destroy();
  });
  afterAll(async () => {
    await deaf.stop();
    await bouncer.stop();
    await postgres.stop();
  });

  test('sessions have the limits from their beginning, and are known to', async () => {
    const { db, access } = open(postgres.url);
    expect(access.hasLimitedSessions()).toBe(false);
    expect(await limitsOf(db)).toEqual(['10s', '5s', '10s']);
    expect(access.hasLimitedSessions()).toBe(true);
  });

  test.each(Object.keys(SESSION_LIMITS))('where the URL sets another %s, each transaction has to', async (name) => {
    const { db, access } = open(`${postgres.url}?${name}=4321`);
    await limitsOf(db);
    expect(access.hasLimitedSessions()).toBe(false);
  });

  test.each([
    ['refuses', () => bouncer],
    ['passes over', () => deaf],
  ])('behind a pooler that %s the limits, each transaction has to set them', async (_what, pooler) => {
    const { db, access } = open(pooler().urlOf(postgres.url));
    await limitsOf(db);
    expect(access.hasLimitedSessions()).toBe(false);
  });

  test('what keeps it from connecting is passed on, and no pool is left behind', async () => {
    const end = jest.spyOn(pg.Pool.prototype, 'end');
    const { db } = open(postgres.url.replace(/postgres$/, 'none'));
    await expect(limitsOf(db)).rejects.toMatchObject({ code: '3D000' });
    expect(end).toHaveBeenCalledTimes(1);
  });
});

/** By default with a single connection: one that is not given back is missed. */
function open(url: string, max = 1): { db: Kysely<object>; access: SqlAccess } {
  const access = postgresAccess(kysely, url, max);
  const db = new Kysely<object>({ dialect: access.dialect });
  opened.push(db);
  return { db, access };
}

async function limitsOf(db: Kysely<object>): Promise<string[]> {
  const { rows } = await sql<{ setting: string }>`select current_setting(name) as setting from unnest(${[
    ...Object.keys(SESSION_LIMITS),
  ]}::text[]) as name`.execute(db);
  return rows.map(({ setting }) => setting);
}

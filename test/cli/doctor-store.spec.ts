import { Logger } from '@nestjs/common';
import pg from 'pg';
import { checkStore, targetOf } from '../../lib/cli/doctor-settings.js';
import { openExisting } from '../../lib/cli/open-account.js';
import { storeUrlProblem } from '../../lib/store/store-url.js';
import { openSqlStore } from '../../lib/store/sql/index.js';
import { startPostgres } from '../services/postgres.js';
import { SECRET_URLS } from '../store/secret-urls.js';

const LIMIT_MS = 5_000;

describe('doctor store', () => {
  afterEach(() => {
    Logger.overrideLogger(false);
  });

  /** Reached or not: of a name, the answer differs from one network to the next. */
  const NEARBY = SECRET_URLS.map(([url]) => url.replace(/\b(db|one|two)\.example(:\d+)?/g, '127.0.0.1:1'));

  test.each(NEARBY)('of %s the doctor shows no user and no password', async (url) => {
    // In no time, a server gives no answer, of which the doctor says something else.
    const findings = [...(await doctorOn(url)), ...(await doctorOn(url, 0))];
    expect(findings.length).toBeGreaterThan(1);
    expect(JSON.stringify(findings)).not.toMatch(/geheim|gehe|heim|\bada\b/);
  });

  test.each(NEARBY.filter((url) => storeUrlProblem(url) === null))('nor do the other commands, of %s', async (url) => {
    const error: unknown = await openExisting(url, '--store').catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/^(CommandFailed)?Error: The store \(--store\) cannot be opened: /);
    expect(String(error)).not.toMatch(/geheim|gehe|heim|\bada\b/);
  });

  test('a database that can only be read is not good', async () => {
    const postgres = await startPostgres();
    try {
      const store = await openSqlStore(postgres.url);
      await store.open();
      await store.close();
      expect(await doctorOn(postgres.url)).toMatchObject([{ status: 'ok' }]);
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(`alter role ${client.user} set default_transaction_read_only = on`);
      await client.end();
      expect(await doctorOn(postgres.url)).toEqual([
        {
          status: 'failed',
          message: expect.stringMatching(/ answers, but cannot be written$/),
          advice: 'Is it a replica, or may its user only read?',
        },
      ]);
    } finally {
      await postgres.stop();
    }
  });

  test('a remote store without verified TLS is named, and fails nothing by itself', async () => {
    const message = expect.stringMatching(
      /store at db\.invalid is not protected by verified TLS.*\(PAYMENT_STORE_URL\)\.$/,
    );
    const warning = { status: 'skipped', advice: null, message };
    expect(await doctorOn('postgres://ada:geheim@db.invalid/shop')).toContainEqual(warning);
    const others = await doctorOn('postgres://ada:geheim@db.invalid/shop?sslmode=verify-full');
    expect(others.map(({ status }) => status)).toEqual(['failed']);
  });
});

async function doctorOn(storeUrl: string, limitMs = LIMIT_MS) {
  return (await checkStore(targetOf('default', { PAYMENT_STORE_URL: storeUrl }, limitMs))).findings;
}

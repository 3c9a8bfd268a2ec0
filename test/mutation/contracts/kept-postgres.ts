import pg from 'pg';
import { type Postgres, startPostgres as start } from '../../services/postgres.js';
import { once } from './once.js';

/**
 * Replaces `test/services/postgres.ts`: the server is started once and ends with this process, since starting one takes
 * longer than the tests. After each test file its databases and sessions are removed.
 */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<Postgres> {
  const server = await once(`postgres ${JSON.stringify(settings)}`, () => start(settings));
  const made: string[] = [];
  return {
    url: server.url,
    async createDatabase() {
      const url = await server.createDatabase();
      made.push(new URL(url).pathname.slice(1));
      return url;
    },
    async stop() {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      for (const name of made.splice(0)) await client.query(`drop database ${name} with (force)`);
      await client.end();
    },
  };
}

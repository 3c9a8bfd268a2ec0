import { queryPostgres, startPostgres } from '../services/postgres.js';
import { describeFrozen } from './frozen.js';
import { shortLimitStore, longLimitStore } from './postgres-shops.js';

describeFrozen({
  async start() {
    const postgres = await startPostgres();
    const sessions = async (database: string) => {
      const name = new URL(database).pathname.slice(1);
      const rows = await queryPostgres(postgres.url, `select pid from pg_stat_activity where datname = '${name}'`);
      return rows.map(({ pid }) => Number(pid));
    };
    return {
      url: postgres.url,
      createDatabase: () => postgres.createDatabase(),
      sessions,
      stop: () => postgres.stop(),
    };
  },
  shortLimitStore,
  longLimitStore,
});

import { queryMariaDb, startMariaDb } from '../services/mariadb.js';
import { describeFrozen } from './frozen.js';
import { shortLimitStore, longLimitStore } from './mariadb-shops.js';

describeFrozen({
  async start() {
    const mariadb = await startMariaDb();
    return {
      url: mariadb.url,
      createDatabase: () => mariadb.createDatabase(),
      async sessions(database) {
        const name = new URL(database).pathname.slice(1);
        const sessions = `select id from information_schema.processlist where db = '${name}'`;
        return (await queryMariaDb(mariadb.url, sessions)).map(({ id }) => Number(id));
      },
      freeze: () => mariadb.freeze(),
      thaw: () => mariadb.thaw(),
      stop: () => mariadb.stop(),
    };
  },
  shortLimitStore,
  longLimitStore,
});

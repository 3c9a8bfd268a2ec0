import { openSqlStore } from 'nestjs-card-payment/sql';
import { startPostgres } from '../services/postgres.js';
import { describeCrashes } from './crashes.js';
import { opened } from './opened.js';

describeCrashes('PostgreSQL', async () => {
  const postgres = await startPostgres();
  const { url } = postgres;
  return { url, open: async () => opened(await openSqlStore(url)), stop: () => postgres.stop() };
});

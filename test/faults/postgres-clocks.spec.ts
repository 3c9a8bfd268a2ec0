import { openSqlStore } from 'nestjs-card-payment/sql';
import { startPostgres } from '../services/postgres.js';
import { describeClocks } from './clocks.js';

describeClocks('PostgreSQL', async () => {
  const postgres = await startPostgres();
  return { create: () => postgres.createDatabase(), open: (url) => openSqlStore(url), stop: () => postgres.stop() };
});

import { startPostgres } from '../services/postgres.js';
import { describeRaces } from './races.js';

describeRaces('PostgreSQL', async () => {
  const postgres = await startPostgres();
  return { create: () => postgres.createDatabase(), stop: () => postgres.stop() };
});

import { queryPostgres, startPostgres } from './postgres.js';

// CI has jobs with several versions; without this variable, any version will do.
test('PostgreSQL has the version that the job wants', async () => {
  const { POSTGRES_VERSION = '' } = process.env;
  const postgres = await startPostgres();
  const [row] = await queryPostgres(postgres.url, 'show server_version');
  await postgres.stop();
  expect(`${String(row?.server_version)} `).toMatch(new RegExp(`^${POSTGRES_VERSION || '\\d+'}[. ]`));
});

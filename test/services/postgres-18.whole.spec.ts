import { postgres18, queryPostgres, startPostgres } from './postgres.js';

test('PostgreSQL 18 of the npm registry starts', async () => {
  const postgres = await startPostgres({}, { binaries: postgres18() });
  const [row] = await queryPostgres(postgres.url, 'show server_version_num');
  await postgres.stop();
  expect(row?.server_version_num).toMatch(/^18\d{4}$/);
});

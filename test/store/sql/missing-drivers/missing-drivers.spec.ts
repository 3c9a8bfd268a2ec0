import { jest } from '@jest/globals';

// Were one of them imported before it is needed, nothing could be said at all.
test.each([
  ['better-sqlite3', 'sqlite:x.db', 'better-sqlite3'],
  ['pg', 'postgres://ada:geheim@127.0.0.1:1/shop', 'pg'],
  ['mysql2', 'mysql://ada:geheim@127.0.0.1:1/shop', 'mysql2'],
  ['mysql2', 'mariadb://ada:geheim@127.0.0.1:1/shop', 'mysql2'],
  // The last one, since it stays away.
  ['kysely', 'sqlite:x.db', 'better-sqlite3'],
])('without %s, %s says what to install', async (missing, url, driver) => {
  await jest.isolateModulesAsync(async () => {
    jest.unstable_mockModule(missing, () => {
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    });
    const { openSqlStore } = await import('../../../../lib/store/sql/open-sql-store.js');
    // Printing the schema needs none of them.
    await import('../../../../lib/store/sql/schema.js');
    // Both are found on the disk, so both are named.
    const packages = new RegExp(`^a package is missing: npm install kysely(?:@0\\.28)? ${driver}(?:@\\d+)?$`);
    await expect(openSqlStore(url).then((store) => store.open())).rejects.toThrow(packages);
  });
});

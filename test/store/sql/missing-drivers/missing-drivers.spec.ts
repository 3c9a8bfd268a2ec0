import { jest } from '@jest/globals';

test.each([
  ['sqlite:x.db', 'better-sqlite3'],
  ['postgres://ada:geheim@127.0.0.1:1/shop', 'pg'],
  ['mysql://ada:geheim@127.0.0.1:1/shop', 'mysql2'],
  ['mariadb://ada:geheim@127.0.0.1:1/shop', 'mysql2'],
])('%s without its driver says what to install', async (url, driver) => {
  await jest.isolateModulesAsync(async () => {
    jest.unstable_mockModule(driver, () => {
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    });
    const { openSqlStore } = await import('../../../../lib/store/sql/index.js');
    const store = await openSqlStore(url);
    // Both are found on the disk, so both are named.
    const packages = new RegExp(`^a package is missing: npm install kysely(?:@0\\.28)? ${driver}(?:@\\d+)?$`);
    await expect(store.open()).rejects.toThrow(packages);
  });
});

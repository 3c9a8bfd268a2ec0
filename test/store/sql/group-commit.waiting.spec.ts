import { jest } from '@jest/globals';
import { GroupCommit } from '../../../lib/store/sql/group-commit.js';
import { sqliteEngine } from '../../../lib/store/sql/engines/sqlite/sqlite.engine.js';
import type { InProcessConnection, Steps } from '../../../lib/store/sql/sql-transaction.js';

describe('group commit waiting', () => {
  test('work that fails on its own does not fail other waiting work, however long that waits', async () => {
    const connection = { inTransaction: true, execute: () => ({ rows: [] }) } as unknown as InProcessConnection;
    const group = new GroupCommit(sqliteEngine, (use) => use(connection));
    const now = performance.now.bind(performance);
    let passed = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now() + passed);
    let waiting: Promise<string> | undefined;
    // eslint-disable-next-line require-yield -- it fails before it asks anything
    const failing = group.run(function* (): Steps<string> {
      // eslint-disable-next-line require-yield -- it asks nothing
      waiting = group.run(function* (): Steps<string> {
        return 'written';
      });
      passed = 11_000;
      throw new Error('own fault');
    });
    await expect(failing).rejects.toThrow('own fault');
    expect(await waiting).toBe('written');
  });
});

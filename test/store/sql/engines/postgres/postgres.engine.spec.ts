import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { type Session, SQL_SERVERS } from '../../../../rigs/sql-servers.js';
import { suiteStore } from '../../../../rigs/suite-stores.js';

describe('on a server', () => {
  let url: string;
  let session: Session;

  beforeEach(async () => {
    url = await (await suiteStore('PostgreSQL')).create();
    session = await SQL_SERVERS.PostgreSQL.connect(url);
  });
  afterEach(() => session.end());

  test.each([
    [
      'off',
      ['The payment store: synchronous_commit is off: a crash of the server can lose payments that were reported'],
    ],
    ['local', []],
  ])('with synchronous_commit %s it warns of what a crash loses', async (value, expected) => {
    await session.run(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = ${value}`);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await (await openedStoreAt(url)).close();
    expect(warn.mock.calls.map(([text]) => String(text).split(' as stored')[0])).toEqual(expected);
  });
});

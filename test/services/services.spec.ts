import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { findChromium } from './chromium.js';
import { queryMariaDb, startMariaDb } from './mariadb.js';
import { queryPostgres, startPostgres } from './postgres.js';
import { until } from './until.js';

test('PostgreSQL has separate databases, and is gone after stop', async () => {
  const postgres = await startPostgres();
  const [one, two] = await Promise.all([postgres.createDatabase(), postgres.createDatabase()]);
  const client = new pg.Client(one);
  await client.connect();
  await client.query('create table t (id int)');
  await client.end();
  const other = new pg.Client(two);
  await other.connect();
  await expect(other.query('select * from t')).rejects.toThrow('does not exist');
  await other.end();
  await postgres.stop();
  await expect(new pg.Client(one).connect()).rejects.toThrow('ECONNREFUSED');
});

test('MariaDB has separate databases, takes settings, and is gone after stop', async () => {
  const mariadb = await startMariaDb({ innodb_lock_wait_timeout: '7' });
  const [one, two] = await Promise.all([mariadb.createDatabase(), mariadb.createDatabase()]);
  await queryMariaDb(one, 'create table t (id int)');
  await expect(queryMariaDb(two, 'select * from t')).rejects.toMatchObject({ code: 'ER_NO_SUCH_TABLE' });
  const variables = '@@character_set_database as charset, @@innodb_lock_wait_timeout as timeout, @@datadir as folder';
  const [row] = await queryMariaDb(one, `select ${variables}`);
  const { folder, ...values } = row as { folder: string };
  expect(values).toEqual({ charset: 'utf8mb4', timeout: 7 });
  expect(existsSync(folder)).toBe(true);
  const denied = mariadb.url.replace('password', 'wrong');
  await expect(queryMariaDb(denied, 'select 1')).rejects.toMatchObject({ code: 'ER_ACCESS_DENIED_ERROR' });
  await mariadb.stop();
  await expect(queryMariaDb(one, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(existsSync(folder)).toBe(false);
});

test('MariaDB has what was committed before it was killed, and answers after a freeze', async () => {
  const mariadb = await startMariaDb();
  const { url } = mariadb;
  await queryMariaDb(url, 'create table t (id int)');
  await queryMariaDb(url, 'insert into t values (1)');
  await mariadb.kill();
  await expect(queryMariaDb(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await mariadb.restart();
  await mariadb.freeze();
  await expect(createConnection({ uri: url, connectTimeout: 200 })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  await mariadb.thaw();
  expect(await queryMariaDb(url, 'select id from t')).toEqual([{ id: 1 }]);
  await mariadb.freeze();
  await mariadb.stop();
});

// CI has jobs with several versions; without this variable, any version will do.
test('PostgreSQL has the version that the job wants', async () => {
  const { POSTGRES_VERSION = '' } = process.env;
  const postgres = await startPostgres();
  const [row] = await queryPostgres(postgres.url, 'show server_version');
  await postgres.stop();
  expect(`${String(row?.server_version)} `).toMatch(new RegExp(`^${POSTGRES_VERSION || '\\d+'}[. ]`));
});

const alive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test.each(['SIGTERM', 'SIGKILL'])(
  'a server that %s ends does not outlive the process that started it',
  async (signal) => {
    const folder = `${process.cwd()}/test/services`;
    const parent = spawn(
      process.execPath,
      [
        '-e',
        `const { spawn } = require('node:child_process');
       const { mkdtempSync } = require('node:fs');
       const { tmpdir } = require('node:os');
       const scratch = mkdtempSync(tmpdir() + '/card-payment-guard-');
       const server = "const { spawn } = require('node:child_process');"
         + "const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);"
         + "process.on('SIGTERM', () => { child.kill(); process.exit(); });"
         + "console.log(JSON.stringify([process.pid, child.pid]));";
       const args = ['${folder}/guard.mjs', scratch, '${signal}', process.execPath, '-e', server];
       const guard = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
       guard.stdout.on('data', (pids) => console.log(JSON.stringify({ scratch, pids: JSON.parse(pids) })));`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const line = await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve));
    const { scratch, pids } = JSON.parse(line.toString()) as { scratch: string; pids: number[] };
    expect(existsSync(scratch)).toBe(true);
    expect(pids.map(alive)).toEqual([true, true]);
    parent.kill('SIGKILL');
    await until(() => !pids.some(alive) && !existsSync(scratch));
  },
);

test('Chromium is found', () => {
  expect(existsSync(findChromium())).toBe(true);
});

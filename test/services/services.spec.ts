import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import { findChromium } from './chromium.js';
import { startPostgres } from './postgres.js';
import { startRedis } from './redis.js';
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

// CI has jobs with several versions; without these variables, any version will do.
test('PostgreSQL and Redis have the versions that the job wants', async () => {
  const { POSTGRES_VERSION = '', REDIS_VERSION = '' } = process.env;
  const [postgres, server] = await Promise.all([startPostgres(), startRedis()]);
  const [client, redis] = [new pg.Client(postgres.url), new Redis(server.url)];
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  const info = await redis.info('server');
  await client.end();
  redis.disconnect();
  await Promise.all([postgres.stop(), server.stop()]);
  expect(`${rows[0]?.server_version} `).toMatch(new RegExp(`^${POSTGRES_VERSION || '\\d+'}[. ]`));
  expect(/redis_version:(\S+)/.exec(info)?.[1]).toMatch(new RegExp(`^${REDIS_VERSION}`));
});

test('Redis is durable, evicts nothing, and is gone after stop', async () => {
  const server = await startRedis({ args: ['--appendfsync', 'always'] });
  const redis = new Redis(server.url);
  const settings = await redis.config('GET', 'append*', 'maxmemory-policy', 'dir');
  const value = (name: string) => (settings as string[])[(settings as string[]).indexOf(name) + 1];
  expect([value('appendonly'), value('appendfsync'), value('maxmemory-policy')]).toEqual([
    'yes',
    'always',
    'noeviction',
  ]);
  redis.disconnect();
  expect(existsSync(value('dir')!)).toBe(true);
  await server.stop();
  expect(existsSync(value('dir')!)).toBe(false);
});

test('a Redis cluster takes writes to every slot', async () => {
  const server = await startRedis({ cluster: true });
  expect(server.nodes).toHaveLength(3);
  const cluster = new Cluster([...server.nodes]);
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => cluster.set(key, '1')));
  cluster.disconnect();
  await server.stop();
});

test('a server does not outlive the process that started it, even if that is killed', async () => {
  const folder = `${process.cwd()}/test/services`;
  const parent = spawn(
    process.execPath,
    [
      '-e',
      `const { spawn } = require('node:child_process');
       const { mkdtempSync } = require('node:fs');
       const { tmpdir } = require('node:os');
       const scratch = mkdtempSync(tmpdir() + '/card-payment-guard-');
       const server = 'console.log(process.pid); setInterval(() => {}, 1000)';
       const args = ['${folder}/guard.mjs', scratch, 'SIGTERM', process.execPath, '-e', server];
       const guard = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
       guard.stdout.on('data', (pid) => console.log(JSON.stringify({ scratch, pid: Number(pid) })));`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const line = await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve));
  const { scratch, pid } = JSON.parse(line.toString()) as { scratch: string; pid: number };
  expect(existsSync(scratch)).toBe(true);
  parent.kill('SIGKILL');
  const alive = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await until(() => !alive() && !existsSync(scratch));
});

test('Chromium is found', () => {
  expect(existsSync(findChromium())).toBe(true);
});

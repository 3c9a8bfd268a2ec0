import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { queryPostgres, startPostgres } from './postgres.js';
import { until } from './until.js';

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

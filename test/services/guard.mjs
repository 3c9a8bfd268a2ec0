/**
 * Runs a server for as long as the process that started it lives: node guard.mjs FOLDER SIGNAL COMMAND ARGUMENTS…
 *
 * Standard input is a pipe from that process. It closes when the server is no longer needed, or when the process crashes
 * or is killed. The server then gets SIGNAL, and the scratch FOLDER is removed.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

const [folder, signal, command, ...args] = process.argv.slice(2);
const owner = process.getuid?.() === 0 && process.env.GUARD_UID ? Number(process.env.GUARD_UID) : undefined;
const group = owner === undefined ? undefined : Number(process.env.GUARD_GID);

const server = spawn(command, args, { cwd: folder, uid: owner, gid: group, stdio: ['ignore', 'inherit', 'inherit'] });
server.on('error', (error) => console.error(error.message));
server.on('close', () => {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
});

process.stdin.resume();
process.stdin.on('close', () => {
  server.kill(signal);
  setTimeout(() => server.kill('SIGKILL'), 5000).unref();
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => process.stdin.destroy());
}

/**
 * Runs a server for as long as the process that started it lives: node guard.mjs FOLDER SIGNAL COMMAND ARGUMENTS…
 *
 * Standard input is a pipe from that process. It closes when the server is no longer needed, or when the process crashes
 * or is killed. The server then gets SIGNAL, and the scratch FOLDER is removed.
 *
 * Orders come as messages, { id, order, with }, and are answered by { id } once carried out. A server that was ended by an
 * order keeps its folder, and may be started again.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';

const [folder, stopSignal, command, ...firstArgs] = process.argv.slice(2);
const owner = process.getuid?.() === 0 && process.env.GUARD_UID ? Number(process.env.GUARD_UID) : undefined;
const group = owner === undefined ? undefined : Number(process.env.GUARD_GID);

let server;
let frozen = false;
/** Whether the folder stays when the server ends. */
let ended = false;

function start(args) {
  ended = frozen = false;
  server = spawn(command, args, { cwd: folder, uid: owner, gid: group, stdio: ['ignore', 'inherit', 'inherit'] });
  server.on('error', (error) => console.error(error.message));
  server.on('close', () => ended || cleanUp());
}

function cleanUp() {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}

/** The server's processes, parents before their children. */
function processes() {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const tree = [server.pid];
  for (const parent of tree) tree.push(...rows.filter(([, ppid]) => ppid === parent).map(([pid]) => pid));
  return tree;
}

/** PostgreSQL's sessions, and what Galera's nodes run to copy data, are processes of their own. */
function signalAll(signal) {
  for (const pid of processes()) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

function killAll() {
  try {
    signalAll('SIGKILL');
  } finally {
    server.kill('SIGKILL');
  }
}

const running = () => server.exitCode === null && server.signalCode === null;

async function end(signal) {
  if (!running()) {
    return;
  }
  ended = true;
  const exit = once(server, 'close');
  if (signal === 'SIGKILL') {
    // Stopped, it starts no process that the list does not name.
    server.kill('SIGSTOP');
    signalAll(signal);
  } else {
    server.kill(signal);
  }
  await exit;
}

const ORDERS = {
  start,
  end,
  freeze() {
    frozen = true;
    signalAll('SIGSTOP');
  },
  thaw() {
    frozen = false;
    signalAll('SIGCONT');
  },
};

process.on('message', async ({ id, order, with: value }) => {
  await ORDERS[order](value);
  // There may be nobody left to tell.
  process.send({ id }, () => undefined);
});

process.stdin.resume();
process.stdin.on('close', () => {
  ended = false;
  if (!running()) {
    cleanUp();
  } else if (stopSignal === 'SIGKILL') {
    killAll();
  } else {
    server.kill(stopSignal);
    if (frozen) signalAll('SIGCONT');
    setTimeout(killAll, 5000).unref();
  }
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => process.stdin.destroy());
}
start(firstArgs);

/**
 * Sees to it that what the tests need besides npm packages is on this machine: PostgreSQL, Redis and Chromium.
 * Installs what is missing where it may (root or continuous integration, Debian's apt-get or Homebrew); otherwise says what to
 * install and ends with 1. Quick, and without network, when all is there.
 */
import { spawnSync } from 'node:child_process';
import { CHROMIUM_NAMES, findExecutable } from './executables.mjs';

const NEEDED = [
  { what: 'PostgreSQL', programs: [['initdb'], ['postgres']], apt: 'postgresql', brew: ['postgresql@17'] },
  { what: 'Redis', programs: [['redis-server'], ['redis-cli']], apt: 'redis-server', brew: ['redis'] },
  { what: 'Chromium', programs: [CHROMIUM_NAMES], apt: 'chromium', brew: ['--cask', 'google-chrome'] },
];

const missing = () => NEEDED.filter(({ programs }) => programs.some((names) => findExecutable(...names) === null));

/** Output goes to the terminal. What it ended with is not asked: a package may install well and fail to start its service. */
function run(command, ...args) {
  console.log(`> ${[command, ...args].join(' ')}`);
  spawnSync(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', HOMEBREW_NO_AUTO_UPDATE: '1' },
  });
}

/** What goes before a command that needs root; null where we may not. */
function asRoot() {
  if (process.getuid?.() === 0) {
    return [];
  }
  const sudo = findExecutable('sudo');
  const mayUseIt = process.env.CI && sudo !== null && spawnSync(sudo, ['-n', 'true']).status === 0;
  return mayUseIt ? [sudo, '-n', '--preserve-env=DEBIAN_FRONTEND'] : null;
}

function install(wanted) {
  const aptGet = findExecutable('apt-get');
  const brew = findExecutable('brew');
  const root = asRoot();
  if (aptGet !== null && root !== null) {
    const apt = [...root, aptGet, '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3'];
    run(...apt, 'update');
    run(...apt, 'install', '-y', '--no-install-recommends', ...wanted.map(({ apt }) => apt));
  } else if (process.platform === 'darwin' && brew !== null) {
    wanted.forEach(({ brew: names }) => run(brew, 'install', ...names));
  }
}

function explain(wanted) {
  const lines = [
    `The tests need ${wanted.map(({ what }) => what).join(', ')} on this machine. Install with one of:`,
    `  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${wanted.map(({ apt }) => apt).join(' ')}`,
    `  ${wanted.map(({ brew }) => `brew install ${brew.join(' ')}`).join(' && ')}`,
    'or put these programs in PATH:',
    ...wanted.flatMap(({ programs }) => programs.map((names) => `  ${names.join(' or ')}`)),
  ];
  console.error(lines.join('\n'));
}

if (missing().length > 0) {
  install(missing());
}
const stillMissing = missing();
if (stillMissing.length > 0) {
  explain(stillMissing);
  process.exitCode = 1;
}

/**
 * Installs what the tests need besides npm packages: PostgreSQL, PgBouncer, MariaDB and Chromium; with
 * `whole`, Galera and Prometheus' promtool as well. It uses apt-get (as root, or with sudo in continuous integration) or
 * Homebrew; elsewhere it says what to install and exits with 1. When everything is installed, it needs no network and no
 * time.
 */
import { spawnSync } from 'node:child_process';
import { CHROMIUM_NAMES, findExecutable, findGalera, HEADLESS_SHELL } from './executables.mjs';

const isWhole = process.argv.includes('whole');

const NEEDED = [
  { what: 'PostgreSQL', programs: [['initdb'], ['postgres']], apt: 'postgresql', brew: ['postgresql@17'] },
  { what: 'PgBouncer', programs: [['pgbouncer']], apt: 'pgbouncer', brew: ['pgbouncer'] },
  { what: 'MariaDB', programs: [['mariadbd'], ['mariadb-install-db']], apt: 'mariadb-server', brew: ['mariadb'] },
  { what: 'ps', programs: [['ps']], apt: 'procps' },
  { what: 'Chromium', programs: [CHROMIUM_NAMES], apt: 'chromium', brew: ['--cask', 'google-chrome'] },
];

if (isWhole) {
  NEEDED.push({ what: 'Prometheus', programs: [['promtool']], apt: 'prometheus', brew: ['prometheus'] });
}
// Homebrew does not have it, and its tests say so on macOS.
if (isWhole && process.platform !== 'darwin') {
  NEEDED.push({ what: 'Galera', programs: [['wsrep_sst_rsync'], ['rsync']], found: findGalera, apt: 'galera-4' });
}

const missing = () =>
  NEEDED.filter(
    ({ programs, found }) => programs.some((names) => findExecutable(...names) === null) || found?.() === null,
  );

/** Ignores the exit status: a package may be installed and yet fail to start its service. */
function run(command, ...args) {
  console.log(`> ${[command, ...args].join(' ')}`);
  spawnSync(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', HOMEBREW_NO_AUTO_UPDATE: '1' },
  });
}

/** What to put before a command that needs root; null where there is no way to be root. */
function asRoot() {
  if (process.getuid?.() === 0) {
    return [];
  }
  const sudo = findExecutable('sudo');
  const mayUseSudo = process.env.CI && sudo !== null && spawnSync(sudo, ['-n', 'true']).status === 0;
  return mayUseSudo ? [sudo, '-n', '--preserve-env=DEBIAN_FRONTEND'] : null;
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
  const packages = wanted.map(({ apt }) => apt).join(' ');
  const formulas = wanted.flatMap(({ brew }) => (brew ? [`brew install ${brew.join(' ')}`] : []));
  const lines = [
    `The tests need ${wanted.map(({ what }) => what).join(', ')} on this machine. Install with one of:`,
    `  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages}`,
    ...(formulas.length > 0 ? [`  ${formulas.join(' && ')}`] : []),
    'or put these programs in PATH:',
    ...wanted.flatMap(({ programs }) => programs.map((names) => `  ${names.join(' or ')}`)),
  ];
  console.error(lines.join('\n'));
}

/** The headless shell saves minutes, and full Chromium does without it. */
function offersHeadlessShell() {
  const aptCache = findExecutable('apt-cache');
  if (findExecutable(HEADLESS_SHELL) !== null || aptCache === null || asRoot() === null) return false;
  return spawnSync(aptCache, ['show', HEADLESS_SHELL], { stdio: 'ignore' }).status === 0;
}

if (missing().length > 0) {
  console.log(
    `Installing ${missing()
      .map(({ what }) => what)
      .join(', ')}: once, for one to five minutes.`,
  );
  install(missing());
}
// Only where apt-get's lists, which were updated if anything was missing, have it.
if (offersHeadlessShell()) {
  install([{ apt: HEADLESS_SHELL }]);
}
const stillMissing = missing();
if (stillMissing.length > 0) {
  explain(stillMissing);
  process.exitCode = 1;
}

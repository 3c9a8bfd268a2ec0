import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { useScratchFolder } from '../rigs/scratch-folder.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly uses?: string;
  readonly secrets?: unknown;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
  readonly 'timeout-minutes'?: number;
  readonly strategy?: {
    readonly matrix: {
      readonly suite?: readonly string[];
      readonly include?: readonly Readonly<Record<string, unknown>>[];
    };
  };
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = '.github/workflows';
const FILES = readdirSync(FOLDER);
const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const workflowOf = (file: string): Workflow => parse(textOf(file)) as Workflow;
const jobsOf = (file: string): [string, Job][] => Object.entries(workflowOf(file).jobs);
const stepsOf = (job?: Job): readonly Step[] => job?.steps ?? [];
const scriptsOf = (job?: Job): string[] => stepsOf(job).flatMap(({ run }) => run ?? []);
const canWrite = ({ permissions = {} }: Job): boolean => Object.values(permissions).includes('write');

/** Matches commands that run code of the repository or of its dependencies, or install them. */
const FOREIGN_CODE = /\b(?:npm (?!publish\b)|npx |pnpm |yarn |bun |node |corepack |make\b|curl\b|wget\b|\.\/)/;

const release = workflowOf('release.yml');
const scriptOf = (name: string): string => scriptsOf(release.jobs[name]).join('\n');

it('the list of workflows is complete', () => {
  const names = ['audit', 'ci', 'codeql', 'mutation', 'pages', 'release', 'whole'];
  expect(FILES.sort()).toEqual(names.map((name) => `${name}.yml`));
});

describe.each(FILES)('%s', (file) => {
  const steps = jobsOf(file).flatMap(([, job]) => stepsOf(job));

  it('pins each action to a commit, with its version in a comment', () => {
    const lines = textOf(file)
      .split('\n')
      .filter((line) => /^\s*(?:- )?['"]?uses['"]?\s*:/.test(line));
    const used = [...jobsOf(file).map(([, job]) => job), ...steps].flatMap(({ uses }) => uses ?? []);
    expect(lines).toHaveLength(used.length);
    const isPinned = (line: string): boolean =>
      /uses: (?:\.\/\.github\/workflows\/\w+\.yml|[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(line);
    expect(lines.filter((line) => !isPinned(line))).toEqual([]);
  });

  it('has only read permissions, except in jobs that declare others', () => {
    const { permissions } = workflowOf(file);
    expect(permissions).toBeDefined();
    for (const permission of Object.values(permissions ?? {})) expect(permission).toBe('read');
    for (const [name, { permissions: ofJob }] of jobsOf(file)) {
      expect([name, typeof (ofJob ?? {})]).toEqual([name, 'object']);
    }
  });

  it('does not persist credentials when it checks out', () => {
    for (const step of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))) {
      expect(step.with).toMatchObject({ 'persist-credentials': false });
    }
  });

  it('has no expression in a script, and no trigger that gives permissions to outsiders', () => {
    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
    const triggers = Object.keys(workflowOf(file).on);
    for (const event of ['pull_request_target', 'workflow_run', 'issue_comment']) expect(triggers).not.toContain(event);
    for (const [, { secrets }] of jobsOf(file)) expect(secrets).toBeUndefined();
  });

  it('runs no foreign code and uses no cache in a job that may write or publish', () => {
    for (const [name, job] of jobsOf(file).filter(([, each]) => canWrite(each))) {
      const scripts = scriptsOf(job).map((script) => script.replace(/"\.\/\$TARBALL"/g, ''));
      expect([name, scripts.filter((script) => FOREIGN_CODE.test(script))]).toEqual([name, []]);
      expect(job.uses).toBeUndefined();
      for (const { uses = '' } of stepsOf(job)) {
        expect(uses).toMatch(
          /^(?:(?:actions\/(?:checkout|setup-node|download-artifact|deploy-pages)|github\/codeql-action\/(?:init|analyze))@.*)?$/,
        );
      }
    }
  });
});

describe('the CI workflow', () => {
  const { lint, unit, ci } = workflowOf('ci.yml').jobs;
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const suites = scripts['test:unit']!.split(' ').filter((word) => word.startsWith('test/'));

  it('starts with fast jobs, which need no servers, browser or build', () => {
    const [linting, testing] = [lint, unit].map((job) => scriptsOf(job).join('\n'));
    expect(linting).toContain('npm run typecheck\nnpm run lint');
    expect(testing).toContain('npm run test:unit');
    for (const job of [lint, unit]) {
      expect(job?.['timeout-minutes']).toBeLessThanOrEqual(10);
      expect(scriptsOf(job).join('\n')).not.toMatch(/\.ci\/|install\.mjs|npm test|build/);
    }
    expect(ci?.needs).toEqual(['lint', 'unit']);
  });

  it.each(suites)('has the suite %s in a fast job, since it starts no server, browser or build', (suite) => {
    // A room alone, without the rooms in subfolders of it.
    const [folder, recursive] = suite.endsWith('/room') ? [dirname(suite), false] : [suite, true];
    const files = readdirSync(folder, { recursive, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    expect(files.filter((name) => name.endsWith('.spec.ts'))).not.toEqual([]);
    const code = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    expect(code).not.toMatch(
      /from '[./]*\/services\/(?:postgres|mariadb|pgbouncer|chromium)\.js'|from '[./]*\/browser\/|'dist\//,
    );
  });

  it('runs all tests with several versions of Node and PostgreSQL, and checks these versions', () => {
    const { include = [] } = ci?.strategy?.matrix ?? {};
    for (const name of ['node', 'postgres']) {
      expect([name, new Set(include.map((row) => row[name])).size]).toEqual([name, 3]);
    }
    const versions = { POSTGRES_VERSION: '${{ matrix.postgres }}' };
    const [services, allTests] = stepsOf(ci).filter(({ run }) => run?.includes('.ci/'));
    expect([services?.env, allTests?.env]).toEqual([versions, versions]);
    expect(allTests?.run).toBe('bash .ci/run');
    expect(readFileSync('test/services/services.spec.ts', 'utf8')).toContain('POSTGRES_VERSION');
  });
});

it('the whole tests run every folder that has a longer form', () => {
  const { suite = [] } = workflowOf('whole.yml').jobs['whole']?.strategy?.matrix ?? {};
  const hasLongerForm = (folder: string): boolean =>
    readdirSync(join('test', folder), { recursive: true, encoding: 'utf8' }).some((name) => {
      if (!name.endsWith('.ts')) return false;
      const text = readFileSync(join('test', folder, name), 'utf8');
      return name.endsWith('.whole.spec.ts') || /^import .*\/extent\.js'/m.test(text);
    });
  const folders = readdirSync('test', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const longer = folders.map(({ name }) => name).filter((name) => name !== 'rigs' && hasLongerForm(name));
  expect(longer.filter((name) => !suite.includes(name))).toEqual([]);
});

describe('dependency updates', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8')) as {
    updates: readonly Record<string, unknown>[];
  };

  it('cover the packages of each lock file, and the actions', () => {
    const covered = updates.map((update) => [update['package-ecosystem'], update['directory'], update['directories']]);
    expect(covered).toEqual([
      ['npm', undefined, ['/', '/bench/peers']],
      ['github-actions', '/', undefined],
    ]);
  });

  it('wait for a week, by which time a bad version is known', () => {
    for (const { cooldown } of updates) expect(cooldown).toEqual({ 'default-days': 7 });
  });
});

it('the repository has a code of conduct, and code owners for all files', () => {
  expect(existsSync('.github/CODE_OF_CONDUCT.md')).toBe(true);
  expect(readFileSync('.github/CODEOWNERS', 'utf8')).toMatch(/^\* @[\w/-]+$/m);
});

describe('the workflow of the site', () => {
  const { build, deploy } = workflowOf('pages.yml').jobs;

  it('builds in a job that may only read, and publishes in one that runs nothing but the action for it', () => {
    expect(build?.permissions).toBeUndefined();
    expect(scriptsOf(build)).toEqual(['npm ci --ignore-scripts', 'npm run docs']);
    // npm trusts the environment `npm` of release.yml alone, so this token publishes no package.
    expect(deploy).toMatchObject({
      needs: 'build',
      environment: 'github-pages',
      permissions: { pages: 'write', 'id-token': 'write' },
    });
    expect(stepsOf(deploy).map(({ uses, run }) => [uses?.split('@')[0], run])).toEqual([
      ['actions/deploy-pages', undefined],
    ]);
  });
});

describe('the release workflow', () => {
  const publishing = jobsOf('release.yml').filter(([, { permissions }]) => permissions?.['id-token'] !== undefined);

  it('publishes in one job, which has no other permission, needs an approval and checks nothing out', () => {
    expect(publishing.map(([name]) => name)).toEqual(['publish']);
    const [[, job] = [], ...others] = publishing;
    expect(others).toEqual([]);
    expect(job).toMatchObject({ environment: 'npm', permissions: { 'id-token': 'write' } });
    expect(Object.keys(job?.permissions ?? {})).toEqual(['id-token']);
    expect(stepsOf(job).filter(({ uses }) => uses?.startsWith('actions/checkout@'))).toEqual([]);
    for (const file of FILES.filter((name) => !['release.yml', 'pages.yml'].includes(name))) {
      for (const [, { permissions = {} }] of jobsOf(file)) expect(Object.keys(permissions)).not.toContain('id-token');
    }
  });

  it('packs in a job without write permission and cache', () => {
    const { build } = release.jobs;
    expect(build?.permissions).toEqual({ contents: 'read' });
    expect(scriptOf('build')).toContain('npm pack');
    for (const name of ['version', 'build', 'publish']) {
      for (const step of stepsOf(release.jobs[name])) {
        expect(step.uses ?? '').not.toMatch(/^actions\/cache/);
        if (!step.uses?.startsWith('actions/setup-node@')) continue;
        expect(step.with).toMatchObject({ 'package-manager-cache': false });
        expect(step.with).not.toHaveProperty('cache');
      }
    }
  });

  describe('has scripts that', () => {
    const folder = useScratchFolder('release');
    const commandLog = () => readFileSync(folder.file('calls'), 'utf8');

    beforeEach(() => {
      folder.write('calls', '');
      const log = `>> '${folder.file('calls')}'`;
      for (const command of ['gh', 'npm']) {
        folder.write(`bin/${command}`, `#!/bin/sh\necho "${command} $*" ${log}\n[ "$2" = list ] && echo 0\nexit 0\n`);
        chmodSync(folder.file(`bin/${command}`), 0o755);
      }
    });

    function run(script: string, cwd: string, env: Readonly<Record<string, string>> = {}): string {
      const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
        cwd: folder.file(cwd),
        encoding: 'utf8',
        env: {
          PATH: `${folder.file('bin')}:${process.env.PATH}`,
          HOME: folder.path,
          RUNNER_TEMP: folder.path,
          GIT_CONFIG_NOSYSTEM: '1',
          ...env,
        },
      });
      return `${status}\n${stdout}${stderr}`;
    }

    const sha256Of = (name: string): string => run(`sha256sum '${name}'`, '.').split(/\s+/)[1] ?? '';

    it('open a pull request with only the version and its notes', () => {
      const others = ['lib/index.ts', '.github/workflows/ci.yml', '.changeset/a.md'];
      for (const name of ['package.json', 'CHANGELOG.md', ...others]) folder.write(`repo/${name}`, 'before\n');
      const setUp = `
        git init --quiet --bare ../origin && git init --quiet --initial-branch main
        git config user.name a && git config user.email a@b.example
        git add --all && git commit --quiet -m first && git remote add origin ../origin && git push --quiet origin main
        echo after | tee package.json CHANGELOG.md lib/index.ts .github/workflows/ci.yml > new.js
        rm .changeset/a.md && git add --all && git diff --cached --binary > "$RUNNER_TEMP/version.patch"
        git reset --quiet --hard && rm -f new.js`;
      expect(run(setUp, 'repo')).toMatch(/^0\n/);
      expect(run(scriptOf('pull-request'), 'repo', { BRANCH: 'changeset-release/main' })).toMatch(/^0\n/);
      const changed = run('git --git-dir ../origin diff --name-only main changeset-release/main', 'repo');
      expect(changed).toBe('0\n.changeset/a.md\nCHANGELOG.md\npackage.json\n');
      expect(commandLog()).toContain('gh pr create --base main --head changeset-release/main');
    });

    it('publish only the tarball that was built', () => {
      folder.write('repo/release/nestjs-card-payment-1.2.3.tgz', 'built');
      const TARBALL = 'release/nestjs-card-payment-1.2.3.tgz';
      const SHA256 = sha256Of(`repo/${TARBALL}`);
      folder.write('repo/release/notes.md', '');
      expect(run(scriptOf('publish'), 'repo', { TARBALL, SHA256 })).toMatch(/^0\n/);
      expect(commandLog()).toContain(`npm publish ./${TARBALL} --ignore-scripts --provenance`);
      const published = commandLog();
      folder.write(`repo/${TARBALL}`, 'changed after the build');
      expect(run(scriptOf('publish'), 'repo', { TARBALL, SHA256 })).toMatch(/^1\n/);
      expect(run(scriptOf('release'), 'repo', { VERSION: '1.2.3', SHA256 })).toMatch(/^1\n/);
      expect(commandLog()).toBe(published);
    });

    it('extract the notes of this version only', () => {
      folder.write('repo/CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n\n## 1.2.3\n\n- this\n\n## 1.2.2\n\n- that\n');
      folder.write('repo/release/keep', '');
      const awk = /awk [\s\S]*?notes\.md/.exec(scriptOf('build'))?.[0] ?? 'false';
      expect(run(awk, 'repo', { VERSION: '1.2.3' })).toBe('0\n');
      expect(readFileSync(folder.file('repo/release/notes.md'), 'utf8').trim()).toBe('- this');
    });
  });
});

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { useScratchFolder } from '../rigs/scratch-folder.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly uses?: string;
  readonly secrets?: unknown;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
  readonly strategy?: { readonly matrix: { readonly suite?: readonly string[] } };
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

    function statusOf(job: string, env: Readonly<Record<string, string>>): number | null {
      const PATH = `${folder.file('bin')}:${process.env.PATH}`;
      const options = { cwd: folder.file('repo'), env: { PATH, ...env } };
      return spawnSync('bash', ['-eo', 'pipefail', '-c', scriptOf(job)], options).status;
    }

    it('publish only the tarball that was built', () => {
      folder.write('calls', '');
      for (const command of ['gh', 'npm']) {
        folder.write(`bin/${command}`, `#!/bin/sh\necho "${command} $*" >> '${folder.file('calls')}'\n`);
        chmodSync(folder.file(`bin/${command}`), 0o755);
      }
      const TARBALL = 'release/nestjs-card-payment-1.2.3.tgz';
      folder.write(`repo/${TARBALL}`, 'built');
      folder.write('repo/release/notes.md', '');
      const SHA256 = createHash('sha256').update('built').digest('hex');
      expect(statusOf('publish', { TARBALL, SHA256 })).toBe(0);
      expect(commandLog()).toContain(`npm publish ./${TARBALL} --ignore-scripts --provenance`);
      const published = commandLog();
      folder.write(`repo/${TARBALL}`, 'changed after the build');
      expect(statusOf('publish', { TARBALL, SHA256 })).toBe(1);
      expect(statusOf('release', { VERSION: '1.2.3', SHA256 })).toBe(1);
      expect(commandLog()).toBe(published);
    });
  });
});

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Ask, type Call, CommandFailedError, type Outcome, UsageError } from '../../lib/cli/command.js';
import { initCommand } from '../../lib/cli/init/init.command.js';
import { parseWords } from '../../lib/cli/parse-words.js';
import { codeBlocks, installLines, settingFiles } from '../package/guide.js';
import { cleanEnvironment } from '../package/tarball.js';
import { cli } from './cli.js';
import { type Starter, textsIn, writeStarter } from './nest-starter.js';
import { scratch } from './scratch.js';

const PAGE = 'docs/getting-started.md';
const REPLACED = ['src/app.module.ts', 'src/main.ts'];
const REMOVED = ['src/app.controller.ts', 'src/app.controller.spec.ts', 'src/app.service.ts', 'test/app.e2e-spec.ts'];
const ADDED = [
  'src/attempt-limit.guard.ts',
  'src/checkout.controller.ts',
  'src/error-pages.filter.ts',
  'src/order.service.ts',
  'src/pages.ts',
];
const SECRET = 'sk_live_do_not_print';

/** The guide's file of this path, without the line that names it. */
function guideFile(path: string): string {
  const blocks = [PAGE, 'docs/testing.md'].flatMap((page) => codeBlocks(page));
  const { code } = blocks.find((block) => block.path === path) ?? { code: '' };
  return code.slice(code.indexOf('\n') + 1);
}

it('is written from the guide', () => {
  const printed = execFileSync(process.execPath, ['generate-tutorial.js', '--print'], { encoding: 'utf8' });
  // If this fails after a change of the guide: npm run tutorial.
  expect(readFileSync('lib/cli/init/tutorial-files.ts', 'utf8')).toBe(printed);
});

/** Nobody reads what the command shows before it has ended. */
const NOWHERE = { announce: () => Promise.resolve(), write: () => Promise.resolve(true) };

describe('init', () => {
  let place: ReturnType<typeof scratch>;
  let asked: string[];
  const home = process.cwd();
  beforeEach(() => {
    place = scratch();
    asked = [];
  });
  afterEach(() => {
    process.chdir(home);
    place.remove();
  });

  const read = (path: string) => readFileSync(place.file(path), 'utf8');
  const write = (path: string, text: string) => writeFileSync(place.file(path), text);

  /** Runs it in the project, with a person who gives these answers; null is no terminal. */
  async function init(
    words: readonly string[] = [],
    answers: readonly boolean[] | null = null,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    process.chdir(place.folder);
    const left = [...(answers ?? [])];
    const ask: Ask = (question) => {
      asked.push(question);
      const next = left.shift();
      return next === undefined ? Promise.reject(new CommandFailedError('Stopped.')) : Promise.resolve(next);
    };
    const given = { environment, environmentFile: null, ...NOWHERE, ask: answers === null ? null : ask };
    try {
      return await initCommand.run({ ...parseWords(initCommand, words)!, ...given } as Call<
        typeof initCommand.options
      >);
    } finally {
      process.chdir(home);
    }
  }

  describe.each<[string, Required<Starter>]>([
    ['Express on NestJS 11, CommonJS', { adapter: 'express', nest: 11, modules: 'CommonJS' }],
    ['Fastify on NestJS 11, CommonJS', { adapter: 'fastify', nest: 11, modules: 'CommonJS' }],
    ['Express on NestJS 12, ES modules', { adapter: 'express', nest: 12, modules: 'ESM' }],
    ['Fastify on NestJS 12, ES modules', { adapter: 'fastify', nest: 12, modules: 'ESM' }],
    ['Express on NestJS 12, CommonJS', { adapter: 'express', nest: 12, modules: 'CommonJS' }],
  ])('in an empty project of %s', (_what, starter) => {
    beforeEach(() => writeStarter(place.folder, starter));

    it('writes the very files of the guide, after one question', async () => {
      const { status } = await init([], [true]);
      expect(status).toBe(0);
      expect(asked).toHaveLength(1);
      for (const path of [...REPLACED, ...REMOVED]) expect(asked[0]).toContain(path);

      const imports = (text: string) =>
        starter.modules === 'ESM' ? text : text.replace(/from '(\.[^']*)\.js'/g, "from '$1'");
      const test = starter.adapter === 'express' ? 'test/checkout.e2e-spec.ts' : 'test/checkout-fastify.e2e-spec.ts';
      const texts = textsIn(place.folder);
      for (const path of ['src/app.module.ts', ...ADDED, 'src/order.service.spec.ts', test]) {
        expect([path, texts[path]]).toEqual([path, imports(guideFile(path))]);
        expect(texts[path]).not.toBe('');
      }
      expect(texts['src/main.ts']).toBe(imports(guideFile(`src/main.${starter.adapter}.ts`)));
      for (const [name, text] of settingFiles(PAGE)) expect([name, texts[name]]).toEqual([name, text]);
      expect(texts['.gitignore']).toBe('.env\n*.sqlite*\n');
      expect(Object.keys(texts).filter((path) => REMOVED.includes(path) || /\.(tmp|bak)/.test(path))).toEqual([]);
    });

    it('prints the install lines of the guide, and then what shows a paid order', async () => {
      const { text } = await init(['--yes']);
      const lines = installLines(PAGE, `NestJS ${starter.nest}`);
      const isWanted = (name: string) => !name.includes('platform-fastify') && !name.includes('@types/');
      expect(text).toContain(`  npm install ${lines.filter((name) => isWanted(name) && name !== '-D').join(' ')}\n`);
      expect(text).toContain('  npm install -D @types/better-sqlite3\n');
      expect(text).toContain('  npm run start\n');
      expect(text).toContain('Card 4508034508034509, expiry 12/36, code 000');
      expect(text.split('\n').at(-1)).toBe('  npx nestjs-card-payment payments list --state succeeded');
    });

    it('changes nothing when it is run again, and says so', async () => {
      await init(['--yes']);
      const before = textsIn(place.folder);
      const { status, text } = await init([], []);
      expect([status, asked]).toEqual([0, []]);
      expect(text).toContain('Nothing to change');
      expect(textsIn(place.folder)).toEqual(before);
    });
  });

  describe('in a project of nest new', () => {
    beforeEach(() => writeStarter(place.folder));

    it('changes no file that exists without a terminal, and says what to do', async () => {
      write('.env', `DATABASE_PASSWORD=${SECRET}\nPAYMENT_STORE_URL=mysql://shop:${SECRET}@db/shop`);
      write('.gitignore', 'node_modules');
      appendFileSync(place.file('src/main.ts'), `const key = '${SECRET}';\n`);
      const before = textsIn(place.folder);
      const { status, text } = await init();
      expect(status).toBe(1);
      const after = textsIn(place.folder);
      expect(Object.keys(after)).toEqual(expect.arrayContaining([...ADDED, '.env.test']));
      expect(after).toMatchObject(before);
      expect(text).toContain('there is no terminal to ask on (--yes)');
      expect(text).toContain('        app.enableShutdownHooks();');
      expect(text).toContain("+ import { ErrorPages } from './error-pages.filter';");
      expect(text).toMatch(/\.env: add\n +PAYMENT_BASE_URL=simulator:\n +ORDERS_DB=orders\.sqlite\n/);
      expect(text).toMatch(/\.gitignore: add\n +\.env\n +\*\.sqlite\*\n/);
      for (const path of REMOVED) expect(text).toContain(`${path}: delete it`);
      expect(text).not.toContain(SECRET);
    });

    it('keeps the lines of .env and .gitignore, and adds only what is missing', async () => {
      write('.env', `DATABASE_PASSWORD=${SECRET}\r\nexport ORDERS_DB=mine.sqlite`);
      write('.gitignore', '/.env\n');
      const { status, text } = await init([], [true]);
      expect(status).toBe(0);
      expect(read('.env')).toBe(
        `DATABASE_PASSWORD=${SECRET}\r\nexport ORDERS_DB=mine.sqlite\r\nPAYMENT_BASE_URL=simulator:\r\n` +
          'PAYMENT_STORE_URL=sqlite:payments.sqlite\r\n',
      );
      expect(read('.gitignore')).toBe('/.env\n*.sqlite*\n');
      expect(asked.join('') + text).not.toContain(SECRET);
      expect(asked).toHaveLength(1);
    });

    it('adds to .env without touching bytes that are no text', async () => {
      const bytes = Buffer.from([0x41, 0x3d, 0xff, 0xfe, 0x0a]);
      writeFileSync(place.file('.env'), bytes);
      await init(['--yes']);
      expect(readFileSync(place.file('.env')).subarray(0, bytes.length)).toEqual(bytes);
    });

    it('warns when payments would go to a gateway that was set before', async () => {
      write('.env', 'PAYMENT_BASE_URL=https://gateway.example\n');
      const { text } = await init(['--yes'], null, { PAYMENT_BASE_URL: 'https://gateway.example' });
      expect(read('.env')).toContain('PAYMENT_BASE_URL=https://gateway.example\n');
      expect(text).toContain('PAYMENT_BASE_URL was set before');
      expect(text).not.toContain('gateway.example');
    });

    it('asks about each file of your own, shows the difference, and keeps a copy', async () => {
      appendFileSync(place.file('src/main.ts'), '// my own\n');
      const mine = read('src/main.ts');
      const { status, text } = await init([], [true, true]);
      expect(asked[0]).toContain('src/main.ts is not as "nest new" wrote it');
      expect(asked[0]).toContain('  - // my own');
      expect(asked[0]).toContain('  +   app.enableShutdownHooks();');
      expect(status).toBe(0);
      expect(read('src/main.ts')).toContain('enableShutdownHooks');
      expect(read('src/main.ts.bak')).toBe(mine);
      expect(text).toContain('your own is in src/main.ts.bak');
    });

    it('never writes over a copy that it kept before', async () => {
      for (const text of ['// first\n', '// second\n']) {
        write('src/main.ts', text);
        await init(['--yes']);
      }
      expect([read('src/main.ts.bak'), read('src/main.ts.bak2')]).toEqual(['// first\n', '// second\n']);
    });

    it('leaves what is answered with no, and what that file needs', async () => {
      appendFileSync(place.file('src/app.module.ts'), '// my own\n');
      const mine = read('src/app.module.ts');
      const { status, text } = await init([], [false, true]);
      expect(asked[1]).not.toContain('removed');
      expect(status).toBe(1);
      expect(read('src/app.module.ts')).toBe(mine);
      for (const path of REMOVED) expect(existsSync(place.file(path))).toBe(true);
      expect(text).toContain('src/app.module.ts: it needs what these lines do');
      expect(text).not.toContain('no terminal');
    });

    it('keeps the starter files that other code uses', async () => {
      write(
        'src/greeter.ts',
        "import { AppService } from './app.service';\nexport class Greeter extends AppService {}\n",
      );
      await init(['--yes']);
      for (const path of REMOVED) expect(existsSync(place.file(path))).toBe(true);
    });

    it('changes nothing when the person stops at a question', async () => {
      appendFileSync(place.file('src/main.ts'), '// my own\n');
      const before = textsIn(place.folder);
      await expect(init([], [true])).rejects.toThrow('Stopped.');
      expect(textsIn(place.folder)).toEqual(before);
    });

    it('changes nothing with --dry-run, asks nothing, and says what it would do', async () => {
      const before = textsIn(place.folder);
      const { status, text } = await init(['--dry-run', '--yes', '--install'], []);
      expect(status ?? 0).toBe(0);
      expect(asked).toEqual([]);
      expect(textsIn(place.folder)).toEqual(before);
      for (const path of [...ADDED, '.env', '.gitignore']) expect(text).toContain(`${path}: new`);
      for (const path of REPLACED) expect(text).toContain(`${path}: replaced`);
      for (const path of REMOVED) expect(text).toContain(`${path}: removed`);
    });

    it('takes a checkout with other line ends for the same', async () => {
      await init(['--yes']);
      write('src/pages.ts', read('src/pages.ts').replaceAll('\n', '\r\n'));
      expect((await init([], [])).text).toContain('Nothing to change');
    });

    it('leaves all files as they were when one of them cannot be written', async () => {
      const before = textsIn(place.folder);
      // In a read-only folder, root could write.
      mkdirSync(place.file(`src/pages.ts.init-${process.pid}.tmp`));
      await expect(init(['--yes'])).rejects.toThrow(
        /^src\/pages\.ts cannot be written \(\w+\)\. Nothing was changed\.$/,
      );
      rmSync(place.file(`src/pages.ts.init-${process.pid}.tmp`), { recursive: true, force: true });
      expect(textsIn(place.folder)).toEqual(before);
    });

    it('changes nothing if a file changed while it was asking', async () => {
      process.chdir(place.folder);
      const ask: Ask = () => {
        write('src/main.ts', '// just saved\n');
        return Promise.resolve(true);
      };
      const call = { words: [], values: {}, environment: {}, environmentFile: null };
      await expect(initCommand.run({ ...call, ...NOWHERE, ask })).rejects.toThrow(
        'src/main.ts has changed meanwhile. Nothing was changed',
      );
      expect(read('src/main.ts')).toBe('// just saved\n');
      expect(existsSync(place.file('src/pages.ts'))).toBe(false);
      expect(existsSync(place.file('.env'))).toBe(false);
    });

    it('keeps the permissions of a file', async () => {
      write('.env', 'A=b\n');
      chmodSync(place.file('.env'), 0o600);
      await init(['--yes']);
      expect(execFileSync('stat', ['-c', '%a', place.file('.env')], { encoding: 'utf8' })).toBe('600\n');
    });

    it('names the port that is set', async () => {
      expect((await init(['--yes'], null, { PORT: '4000' })).text).toContain('http://localhost:4000');
    });

    it('says what an old tsconfig.json lacks for better-sqlite3', async () => {
      write('tsconfig.json', '{ "compilerOptions": { "module": "commonjs"\n  // "esModuleInterop": true\n} }');
      const { status, text } = await init(['--yes']);
      expect(text).toContain('"esModuleInterop": true,');
      expect(status).toBe(1);
    });
  });

  describe('tells by looking', () => {
    beforeEach(() => writeStarter(place.folder));

    const depends = (change: (dependencies: Record<string, string>) => void) => {
      const manifest = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
      change(manifest.dependencies);
      write('package.json', JSON.stringify(manifest));
    };

    it('Fastify by main.ts', async () => {
      write('src/main.ts', "import { FastifyAdapter } from '@nestjs/platform-fastify';\n");
      const { text } = await init(['--dry-run']);
      expect(text).toContain('NestJS 12, CommonJS, Fastify, npm.');
      expect(text).toContain('@nestjs/platform-fastify@12');
    });

    it('neither, when both are installed: it asks, or says how to choose', async () => {
      depends((dependencies) => (dependencies['@nestjs/platform-fastify'] = '^12.0.0'));
      const { text } = await init(['--dry-run']);
      expect(text).toContain('Express, npm.\nExpress and Fastify are both installed');
      expect(text).toContain('--adapter fastify');
      await init([], [true, true]);
      expect(asked[0]).toContain('Write for Fastify?');
      expect(read('src/main.ts')).toContain('FastifyAdapter');
    });

    it('nothing, when --adapter says it', async () => {
      expect((await init(['--adapter', 'fastify', '--dry-run'])).text).toContain('Fastify, npm.');
      await expect(init(['--adapter', 'koa'])).rejects.toThrow('--adapter takes express or fastify.');
    });

    it('Express with a note, when neither is installed', async () => {
      depends((dependencies) => delete dependencies['@nestjs/platform-express']);
      const { text } = await init(['--dry-run']);
      expect(text).toContain('Neither Express nor Fastify is installed');
      expect(text).toContain('@nestjs/platform-express@12');
    });

    it('the version of NestJS that is installed, rather than the range', async () => {
      mkdirSync(place.file('node_modules/@nestjs/core'), { recursive: true });
      write('node_modules/@nestjs/core/package.json', '{ "version": "11.1.0" }');
      expect((await init(['--dry-run'])).text).toContain('NestJS 11, ');
    });

    it.each([
      ['pnpm-lock.yaml', 'pnpm add nestjs-card-payment', 'pnpm exec nestjs-card-payment payments list'],
      ['yarn.lock', 'yarn add nestjs-card-payment', 'yarn run nestjs-card-payment payments list'],
    ])('the package manager by %s', async (file, install, list) => {
      write(file, '');
      const { text } = await init(['--dry-run']);
      expect(text).toContain(`  ${install}`);
      expect(text).toContain(`  ${list}`);
      const isOld = Number(process.versions.node.split('.')[0]) < 22;
      expect(text.includes('kysely@0.28 better-sqlite3@12')).toBe(isOld);
    });

    it('which packages are there already', async () => {
      depends((dependencies) => Object.assign(dependencies, { axios: '^1.0.0', '@nestjs/axios': '^12.0.0' }));
      const { text } = await init(['--dry-run']);
      expect(text).toContain('npm install nestjs-card-payment @nestjs/config@12 class-validator');
    });
  });

  describe('writes nothing', () => {
    beforeEach(() => writeStarter(place.folder));

    it.each<[string, string, (file: (name: string) => string) => void]>([
      ['where there is no package.json', 'There is no package.json here', (file) => rmSync(file('package.json'))],
      [
        'where package.json is broken',
        'package.json is not valid JSON.',
        (file) => writeFileSync(file('package.json'), '{'),
      ],
      [
        'where there is no Nest application',
        'This is no Nest application',
        (file) => writeFileSync(file('package.json'), '{ "dependencies": { "express": "5" } }'),
      ],
      [
        'for another NestJS',
        'This is NestJS 10; nestjs-card-payment needs NestJS 11 or 12.',
        (file) => writeFileSync(file('package.json'), '{ "dependencies": { "@nestjs/core": "~10.4.0" } }'),
      ],
      [
        'where the version is not told',
        'Install the packages first.',
        (file) => writeFileSync(file('package.json'), '{ "dependencies": { "@nestjs/core": "latest" } }'),
      ],
      [
        'in a monorepo',
        'This is a monorepo of several Nest applications',
        (file) => writeFileSync(file('nest-cli.json'), '{ "monorepo": true, "sourceRoot": "apps/shop/src" }'),
      ],
      [
        'for another source root',
        'The sources are in server (nest-cli.json), not in src.',
        (file) => writeFileSync(file('nest-cli.json'), '{ "sourceRoot": "server" }'),
      ],
      ['in JavaScript', 'the tutorial is written in TypeScript', (file) => rmSync(file('tsconfig.json'))],
      [
        'through a link of a folder',
        'src is a symbolic link',
        (file) => {
          renameSync(file('src'), file('elsewhere'));
          symlinkSync(file('elsewhere'), file('src'));
        },
      ],
      [
        'through a link of a file',
        '.env is a symbolic link',
        (file) => {
          writeFileSync(file('elsewhere'), '');
          symlinkSync(file('elsewhere'), file('.env'));
        },
      ],
      [
        'through a link to nothing',
        'src/pages.ts is a symbolic link',
        (file) => symlinkSync('/tmp/x', file('src/pages.ts')),
      ],
      ['over a folder', 'src/pages.ts is not a file.', (file) => mkdirSync(file('src/pages.ts'))],
      [
        'where src is a file',
        'src is not a folder.',
        (file) => {
          rmSync(file('src'), { recursive: true });
          writeFileSync(file('src'), '');
        },
      ],
    ])('%s', async (_what, message, change) => {
      change(place.file);
      const before = textsIn(place.folder);
      const refused = init(['--yes']);
      await expect(refused).rejects.toBeInstanceOf(UsageError);
      await expect(refused).rejects.toThrow(message);
      expect(textsIn(place.folder)).toEqual(before);
    });
  });

  describe('as a process', () => {
    beforeEach(() => writeStarter(place.folder, { modules: 'ESM' }));

    it('ends with 1 when something is left, 0 when all is done, 2 when it cannot', async () => {
      const first = await cli(['init'], { cwd: place.folder });
      expect([first.status, first.stderr]).toEqual([1, '']);
      expect(first.stdout).toContain('there is no terminal to ask on');
      const second = await cli(['init', '-y'], { cwd: place.folder });
      expect([second.status, second.stderr]).toEqual([0, '']);
      rmSync(place.file('tsconfig.json'));
      const third = await cli(['init'], { cwd: place.folder });
      expect([third.status, third.stdout]).toEqual([2, '']);
      expect(third.stderr).toContain('There is no tsconfig.json');
    });

    it('asks on a terminal', async () => {
      appendFileSync(place.file('src/main.ts'), '// my own\n');
      const command = `"${process.execPath}" "${join(home, 'dist/esm/cli/main.js')}" init`;
      const terminal = spawn('script', ['-qefc', command, '/dev/null'], { cwd: place.folder, env: cleanEnvironment() });
      const answers = ['n\r', 'y\r'];
      let shown = '';
      terminal.stdout.on('data', (text: Buffer) => {
        shown += text.toString();
        if (shown.split('[y/N]').length > 3 - answers.length) terminal.stdin.write(answers.shift() ?? '');
      });
      expect(await once(terminal, 'exit')).toEqual([1, null]);
      expect(shown).toContain('Replace it, and keep yours as src/main.ts.bak? [y/N]');
      expect(read('src/main.ts')).toContain('// my own');
      expect(read('src/app.module.ts')).toBe(guideFile('src/app.module.ts'));
      expect(read('.env')).toContain('PAYMENT_BASE_URL=simulator:');
    });

    it('installs what is missing with --install, after it has said what it did', async () => {
      mkdirSync(place.file('bin'));
      write('bin/npm', '#!/bin/sh\necho "npm $*"\n');
      chmodSync(place.file('bin/npm'), 0o755);
      const env = { PATH: `${place.file('bin')}${delimiter}${process.env['PATH']}` };
      const { status, stdout } = await cli(['init', '--yes', '--install'], { cwd: place.folder, env });
      expect(status).toBe(0);
      const [done, installed, dev, start] = [
        'src/pages.ts: new',
        'npm install nestjs-card',
        'npm install -D',
        'npm run start',
      ].map((text) => stdout.indexOf(text)) as [number, number, number, number];
      expect([done > 0, installed > done, dev > installed, start > dev]).toEqual([true, true, true, true]);

      write('bin/npm', '#!/bin/sh\nexit 1\n');
      const failed = await cli(['init', '--install'], { cwd: place.folder, env });
      expect(failed.status).toBe(1);
      expect(failed.stderr).toContain('failed. The files are written: run it yourself.');
    });
  });
});

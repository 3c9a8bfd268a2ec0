import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { compileDriver, packTarball, run } from './tarball.js';

const NEW = ['--package-manager', 'npm', '--language', 'TypeScript', '--skip-git', '--skip-install'];
const MODULE = 'src/app.module.ts';

/** On Fastify, and edited: with a prefix and a pipe of its own. */
const onFastify = (js: string): string => `import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module${js}';

async function bootstrap() {
  const app = await NestFactory.create(AppModule, new FastifyAdapter());
  app.setGlobalPrefix('api');
  app.useGlobalPipes(new ValidationPipe({ whitelist: true }));
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();
`;

/** As the README says, with the Nest CLI from the registry, in what `nest new` makes. */
describe.each([
  { cli: 11, adapter: 'Express', language: 'en', js: '' },
  { cli: 12, adapter: 'Fastify', language: 'tr', js: '.js' },
] as const)('the first command, with Nest CLI $cli on $adapter', ({ cli, adapter, language, js }) => {
  const { path: scratch, remove } = makeScratchFolder('first');
  let folder = scratch;

  const shell = async (command: string, args: readonly string[]): Promise<string> => {
    const env = { NO_COLOR: '1', FORCE_COLOR: '0', npm_config_ignore_scripts: 'true', npm_config_fund: 'false' };
    const { status, stdout, stderr } = await run(command, args, { cwd: folder, env });
    expect({ args, status, output: status === 0 ? '' : stdout + stderr }).toEqual({ args, status: 0, output: '' });
    return stdout + stderr;
  };
  const nest = (...args: string[]): Promise<string> => shell('npx', ['nest', ...args]);

  beforeAll(async () => {
    const tarball = await packTarball(scratch);
    await shell('npx', ['--yes', `@nestjs/cli@${cli}`, 'new', 'shop', ...NEW]);
    folder = join(scratch, 'shop');
    const adapters = adapter === 'Fastify' ? [`@nestjs/platform-fastify@${cli}`] : [];
    await shell('npm', ['install', '--prefer-offline', '--no-audit', tarball, ...adapters]);
    if (adapter === 'Fastify') writeFileSync(join(folder, 'src/main.ts'), onFastify(js));
    await nest('add', 'nestjs-card-payment', '--skip-install', '--language', language);
    await nest('g', '-c', 'nestjs-card-payment', 'checkout');
    await compileDriver(folder);
  }, 900_000);
  afterAll(remove);

  it('leads to an application that is formatted, linted and built without a complaint', async () => {
    await shell('npx', ['prettier', '--check', 'src/**/*.ts', 'test/**/*.ts']);
    await shell('npm', ['run', 'lint']);
    await nest('build');
  }, 300_000);

  it('leads to an application whose tests pass', async () => {
    expect(await shell('npm', ['test'])).toMatch(/Tests:? +4 passed/);
    expect(await shell('npm', ['run', 'test:e2e'])).toMatch(/Tests:? +4 passed/);
    expect(readFileSync(join(folder, 'src/checkout/texts.ts'), 'utf8')).toContain(`LANGUAGE = '${language}'`);
  }, 300_000);

  it('changes nothing when it is given again', async () => {
    const before = readFileSync(join(folder, MODULE), 'utf8');
    expect(await nest('add', 'nestjs-card-payment', '--skip-install')).toContain('Nothing to be done.');
    expect(await nest('g', '-c', 'nestjs-card-payment', 'checkout')).toContain('Nothing to be done.');
    expect(readFileSync(join(folder, MODULE), 'utf8')).toBe(before);
  }, 120_000);
});

import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../package/tarball.js';
import { built } from '../rigs/built.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';

/** A driver that ends the process where it is run, as better-sqlite3 13 does on Node.js 20. */
const CRASHES = 'process.abort();';
const PROBLEM = `better-sqlite3 13.9.9 needs Node.js 99 or newer, and this is ${process.versions.node}: npm install better-sqlite3@12`;

/** An installed package with its own better-sqlite3: the build, and links to what it needs of this project. */
describe('the built package beside a driver that would crash this Node.js', () => {
  const { path: folder, file, remove } = makeScratchFolder('cli');
  const main = join(folder, 'node_modules/nestjs-card-payment/dist/esm/cli/main.js');

  beforeAll(() => {
    const modules = join(folder, 'node_modules');
    const own = join(modules, 'nestjs-card-payment');
    mkdirSync(join(modules, 'better-sqlite3'), { recursive: true });
    for (const name of readdirSync('node_modules')) {
      if (name.startsWith('.') || name === 'better-sqlite3') continue;
      symlinkSync(join(process.cwd(), 'node_modules', name), join(modules, name));
    }
    cpSync(built(), join(own, 'dist'), { recursive: true });
    cpSync('package.json', join(own, 'package.json'));
    const content = {
      name: 'better-sqlite3',
      version: '13.9.9',
      engines: { node: '>=99' },
      exports: { '.': './index.js' },
    };
    writeFileSync(join(modules, 'better-sqlite3/package.json'), JSON.stringify(content));
    writeFileSync(join(modules, 'better-sqlite3/index.js'), CRASHES);
    writeFileSync(file('payments.sqlite'), '');
  });
  afterAll(remove);

  const env = { PAYMENT_STORE_URL: 'sqlite:payments.sqlite' };

  it('says so in the doctor', async () => {
    const { status, stdout } = await run(process.execPath, [main, 'doctor'], { cwd: folder, env });
    expect(stdout).toMatch(/^✗ store /m);
    expect(stdout).toContain(PROBLEM);
    expect(status).toBe(1);
  });

  it('says so in an application', async () => {
    const code = `
      import 'reflect-metadata';
      import { NestFactory } from '@nestjs/core';
      import { PaymentModule } from 'nestjs-card-payment';
      const options = { logger: false, abortOnError: false };
      await NestFactory.createApplicationContext(PaymentModule.forRoot({ baseUrl: 'simulator:' }), options).catch(
        ({ name, message }) => console.log(name, message),
      );
      process.exit();`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, env });
    expect(stdout).toContain('PaymentConfigurationError The payment module cannot start:');
    expect(stdout).toContain(`storeUrl (PAYMENT_STORE_URL): cannot be opened: ${PROBLEM}`);
  });
});

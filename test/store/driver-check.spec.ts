import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { driverProblem, missingPackages } from '../../lib/store/driver-check.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';

describe('an installed driver', () => {
  let folder: string;
  let remove: () => void;

  beforeEach(() => ({ path: folder, remove } = makeScratchFolder('driver')));
  afterEach(() => remove());

  function install(name: string, content: string, where = 'node_modules'): void {
    mkdirSync(join(folder, where, name), { recursive: true });
    writeFileSync(join(folder, where, name, 'package.json'), content);
  }

  const judge = (name: string, node: string, from = join(folder, 'app/dist/main.js')) =>
    driverProblem(name, node, [from]);

  it.each<[name: string, version: string, node: string, here: string, least?: string, remedy?: string]>([
    ['better-sqlite3', '13.2.0', '>=22', '20.20.2', '22', 'npm install better-sqlite3@12'],
    ['better-sqlite3', '12.6.2', '20.x || 22.x || 24.x', '21.7.3'],
    ['kysely', '0.29.9', '>=22.0.0', '20.19.0', '22.0.0', 'npm install kysely@0.28'],
    ['pg', '9.0.0', '^22.12.0 || >=24', '22.11.0', '22.12.0', 'npm install pg@8'],
  ])('%s %s for Node.js %s on %s', (...row) => {
    const [name, version, node, here, least, remedy] = row;
    install(name, JSON.stringify({ name, version, engines: { node } }));
    const problem = `${name} ${version} needs Node.js ${least} or newer, and this is ${here}: ${remedy}`;
    expect(judge(name, here)).toBe(least === undefined ? null : problem);
  });

  it('is found though its package.json is hidden by exports, behind the links of pnpm, and from a file URL', () => {
    const content = { name: 'kysely', version: '9.0.0', engines: { node: '>=99' }, exports: { '.': './index.js' } };
    install('kysely', JSON.stringify(content), 'node_modules/.pnpm/kysely@9.0.0/node_modules');
    symlinkSync('.pnpm/kysely@9.0.0/node_modules/kysely', join(folder, 'node_modules/kysely'));
    const main = join(folder, 'app/dist/main.js');
    for (const from of [main, pathToFileURL(main).href]) {
      expect(judge('kysely', '20.0.0', from)).toMatch(/^kysely 9\.0\.0 needs Node\.js 99 or newer/);
    }
  });

  it.each(['', 'null', '{"version":"1.0.0"}'])('whose package.json is %j, or not there, is not judged', (content) => {
    install('pg', content);
    expect(judge('pg', '20.0.0')).toBeNull();
    expect(judge('none', '20.0.0')).toBeNull();
  });

  it.each([
    [[], '20.20.2', 'kysely@0.28 better-sqlite3@12'],
    [['better-sqlite3'], '22.12.0', 'kysely'],
    [[], '24.0.0', 'kysely better-sqlite3'],
  ])('beside %j, what is missing on Node.js %s is %s', (installed, node, packages) => {
    for (const name of installed) install(name, JSON.stringify({ name, version: '1.0.0' }));
    expect(missingPackages(['kysely', 'better-sqlite3'], node, [join(folder, 'app/dist/main.js')])).toBe(packages);
  });
});

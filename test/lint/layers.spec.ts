import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { useScratchFolder } from '../rigs/scratch-folder.js';

const LINTER = join(process.cwd(), 'node_modules/.bin/depcruise');
const CONFIG = join(process.cwd(), '.dependency-cruiser.js');

/** Files by what they import. */
type Tree = Readonly<Record<string, readonly string[]>>;

const ALLOWED: Tree = {
  'lib/cli/main.ts': ['lib/simulator/simulator.ts', 'lib/store/open-store.ts', 'lib/index.ts'],
  'lib/simulator/simulator.ts': ['lib/simulator/faults.ts'],
  'lib/operations/direct.ts': ['lib/store/open-store.ts', 'lib/settlement/store-clock.ts'],
  'lib/store/open-store.ts': ['lib/payment/payment.ts'],
  'test/operations/direct.spec.ts': ['lib/operations/direct.ts'],
};

/** Each import that breaks a rule. */
const FORBIDDEN = [
  ['payment-imports-downwards-only', 'lib/payment/payment.ts', 'lib/store/open-store.ts'],
  ['http-imports-downwards-only', 'lib/http/guard.ts', 'lib/payment.module.ts'],
  ['settlement-imports-downwards-only', 'lib/settlement/outcomes.ts', 'lib/operations/direct.ts'],
  ['readings-know-no-dialect', 'lib/gateway/readings/a.ts', 'lib/gateway/dialects/b.ts'],
  // A folder of the same layer.
  ['swagger-imports-downwards-only', 'lib/swagger/main.ts', 'lib/health/health.ts'],
  ['simulator-imports-nothing-of-lib', 'lib/simulator/sign.ts', 'lib/gateway/sign.ts'],
  ['folder-has-no-layer', 'lib/helpers/text.ts', 'lib/runtime/text.ts'],
  ['lib-imports-lib-only', 'lib/payment/refund.ts', 'test/payment/a-payment.ts'],
  ['errors-imports-downwards-only', 'lib/errors/one.error.ts', 'lib/dto/one.dto.ts'],
] as const;

describe('the layers of lib', () => {
  const folder = useScratchFolder('layers');

  /** Lints a tree, and further files by their code. @returns what is refused, in a line each, and the whole report */
  function lint(tree: Tree, code: Readonly<Record<string, string>>) {
    folder.write('tsconfig.json', '{}');
    for (const top of ['lib', 'test']) mkdirSync(folder.file(top));
    for (const [from, targets] of Object.entries(tree)) {
      for (const to of targets) if (!(to in tree)) folder.write(to, 'export type A = 1;\n');
      folder.write(from, `${targets.map((to) => importing(from, to)).join('')}export type { A };\n`);
    }
    for (const [file, text] of Object.entries(code)) folder.write(file, text);
    const args = ['--config', CONFIG, '--output-type', 'err-long', 'lib', 'test'];
    const { status, stdout, stderr } = spawnSync(LINTER, args, { cwd: folder.path, encoding: 'utf8' });
    const refused = [...stdout.matchAll(/error (\S+): (\S+)(?: → (\S+))?/g)].map(([, ...parts]) => parts);
    return { status, refused, report: (stdout + stderr).replace(/\s+/g, ' ') };
  }

  it('allow a folder to import from the layers below it, and the simulator to be loaded on demand', () => {
    const { status, refused, report } = lint(ALLOWED, {
      'lib/simulator/index.ts': 'export const A = 1;\n',
      'lib/index.ts': [
        "export type { A } from './simulator/index.js';",
        "export const load = () => import('./simulator/index.js');\n",
      ].join('\n'),
    });
    expect([status, refused]).toEqual([0, []]);
    expect(report).toContain('no dependency violations found');
  });

  it('forbid imports upwards, circles, missing files and a simulator that every application loads', () => {
    const tree = Object.fromEntries(FORBIDDEN.map(([, from, to]) => [from, [to]]));
    const { status, refused, report } = lint(
      { ...tree, 'test/one.ts': ['test/other.ts'], 'test/other.ts': ['test/one.ts'] },
      {
        'lib/operations/void.ts': "import type { A } from '../store/no-such-store.js';\nexport type { A };\n",
        'lib/simulator/index.ts': 'export const A = 1;\n',
        'lib/index.ts': "export { A } from './simulator/index.js';\n",
      },
    );
    expect(status).toBeGreaterThan(0);
    const missing = ['import-not-found', 'lib/operations/void.ts', '../store/no-such-store.js'];
    const circle = ['no-circle', 'test/one.ts', undefined];
    const loaded = ['simulator-is-loaded-on-demand', 'lib/index.ts', 'lib/simulator/index.ts'];
    expect(refused.sort()).toEqual([...FORBIDDEN.map((row) => [...row]), missing, circle, loaded].sort());
    expect(report).toContain('lib/errors may import only from payment, telemetry, runtime. Move');
  });
});

function importing(from: string, to: string): string {
  const up = '../'.repeat(from.split('/').length - 1);
  return `import type { A } from '${up}${to.replace(/\.ts$/, '.js')}';\n`;
}

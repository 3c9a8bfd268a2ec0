import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const LINTER = join(process.cwd(), 'node_modules/.bin/depcruise');
const CONFIG = join(process.cwd(), '.dependency-cruiser.js');

describe('the layers of lib', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'card-payment-layers-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Lints a tree of files, each given by its imports or by its code. */
  function lint(files: Readonly<Record<string, readonly string[] | string>>): {
    readonly status: number;
    readonly report: string;
  } {
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), typeof content === 'string' ? content : importing(content));
    }
    const args = ['--config', CONFIG, '--output-type', 'err-long', 'lib', 'test'];
    for (const top of ['lib', 'test']) mkdirSync(join(folder, top), { recursive: true });
    const { status, stdout, stderr } = spawnSync(LINTER, args, { cwd: folder, encoding: 'utf8' });
    return { status: status ?? -1, report: stdout + stderr };
  }

  it('allow a folder to import from the layers below it', () => {
    const { status, report } = lint({
      'lib/index.ts': ['./operations/direct.js'],
      'lib/cli/main.ts': ['../simulator/simulator.js', '../store/open-store.js', '../index.js'],
      'lib/simulator/simulator.ts': ['./faults.js'],
      'lib/simulator/faults.ts': [],
      'lib/operations/direct.ts': ['../store/open-store.js', '../settlement/store-clock.js'],
      'lib/settlement/store-clock.ts': [],
      'lib/store/open-store.ts': ['../payment/payment.js'],
      'lib/payment/payment.ts': [],
      'test/operations/direct.spec.ts': ['../../lib/operations/direct.js'],
    });
    expect(report).toContain('no dependency violations found');
    expect(status).toBe(0);
  });

  it.each([
    ['an import upwards', 'lib/payment/payment.ts', 'lib/store/open-store.ts', 'payment-imports-downwards-only'],
    ['an import of the root files', 'lib/http/guard.ts', 'lib/payment.module.ts', 'http-imports-downwards-only'],
    [
      'settlement that imports an operation',
      'lib/settlement/outcomes.ts',
      'lib/operations/direct.ts',
      'settlement-imports-downwards-only',
    ],
    [
      'a reading that imports a dialect',
      'lib/gateway/readings/a.ts',
      'lib/gateway/dialects/b.ts',
      'readings-know-no-dialect',
    ],
    [
      'an import from a folder of the same layer',
      'lib/swagger/main.ts',
      'lib/health/health.ts',
      'swagger-imports-downwards-only',
    ],
    [
      'a simulator that uses the client',
      'lib/simulator/sign.ts',
      'lib/gateway/sign.ts',
      'simulator-imports-nothing-of-lib',
    ],
    ['a folder without a layer', 'lib/helpers/text.ts', 'lib/payment/payment.ts', 'folder-has-no-layer'],
    ['lib importing a test', 'lib/payment/payment.ts', 'test/payment/a-payment.ts', 'lib-imports-lib-only'],
  ])('forbid %s', (_what, from, to, rule) => {
    const { status, report } = lint({ [from]: [specifier(from, to)], [to]: [] });
    expect(report).toContain(`error ${rule}: ${from} → ${to}`);
    expect(status).toBe(1);
  });

  it('forbid a circle of files', () => {
    const { status, report } = lint({ 'test/one.ts': ['./other.js'], 'test/other.ts': ['./one.js'] });
    expect(report).toContain('error no-circle: test/one.ts');
    expect(status).toBeGreaterThan(0);
  });

  it('forbid an import of a missing file', () => {
    const { status, report } = lint({ 'lib/operations/void.ts': ['../store/no-such-store.js'] });
    expect(report).toContain('error import-not-found: lib/operations/void.ts');
    expect(status).toBe(1);
  });

  it.each([
    ['forbid a simulator that every application loads', "export { A } from './simulator/index.js';\n", 1],
    ['allow the simulator to be loaded on demand', "export const load = () => import('./simulator/index.js');\n", 0],
    ['allow its types to be exported', "export type { A } from './simulator/index.js';\n", 0],
  ])('%s', (_what, code, expected) => {
    const { status, report } = lint({ 'lib/index.ts': code, 'lib/simulator/index.ts': 'export const A = 1;\n' });
    expect(report.includes('error simulator-is-loaded-on-demand: lib/index.ts')).toBe(expected === 1);
    expect(status).toBe(expected);
  });

  it('are explained in the report of a violation', () => {
    const { report } = lint({ 'lib/errors/one.error.ts': ['../dto/one.dto.js'], 'lib/dto/one.dto.ts': [] });
    expect(report.replace(/\s+/g, ' ')).toContain('lib/errors may import only from payment, telemetry, runtime. Move');
  });
});

function importing(specifiers: readonly string[]): string {
  const imports = specifiers.map((specifier) => `import type { A } from '${specifier}';\n`);
  return `${imports.join('')}export type { A };\n`;
}

/** The import specifier from one file of the tree to another. */
function specifier(from: string, to: string): string {
  return `${'../'.repeat(from.split('/').length - 1)}${to.replace(/\.ts$/, '.js')}`;
}

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly purl: string } };
  readonly components: readonly { readonly name: string; readonly version: string; readonly hashes: unknown[] }[];
}

describe('the bill of materials of a release', () => {
  const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly version: string;
    readonly dependencies: Record<string, string>;
  };
  const { stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { encoding: 'utf8' });
  const bom = JSON.parse(stdout) as Bom;

  it('is in CycloneDX format, for this version', () => {
    expect(bom.bomFormat).toBe('CycloneDX');
    expect(bom.metadata.component.purl).toBe(`pkg:npm/nestjs-card-payment@${version}`);
  });

  it('lists the dependencies of the package with their hashes, and no build tools', () => {
    expect(bom.components.map(({ name }) => name).sort()).toEqual(Object.keys(dependencies).sort());
    expect(bom.components.every(({ hashes }) => hashes.length > 0)).toBe(true);
  });
});

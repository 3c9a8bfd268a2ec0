import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useScratchFolder } from '../rigs/scratch-folder.js';

const SCRIPT = join(process.cwd(), 'scripts/release-notes.js');

describe('the notes of a release', () => {
  const folder = useScratchFolder('release');

  function release(changelog: string): { readonly status: number | null; readonly changelog: string } {
    folder.write('package.json', '{ "version": "1.4.0" }');
    folder.write('CHANGELOG.md', changelog);
    const { status } = spawnSync(process.execPath, [SCRIPT], { cwd: folder.path });
    return { status, changelog: readFileSync(folder.file('CHANGELOG.md'), 'utf8') };
  }

  it('move from Unreleased to the section of the version', () => {
    expect(release('# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A $& B\n\n## 1.3.0\n')).toEqual({
      status: 0,
      changelog: '# Changelog\n\n## [Unreleased]\n\n## 1.4.0\n\n### Added\n\n- A $& B\n\n## 1.3.0\n',
    });
  });

  it.each(['# Changelog\n', '# Changelog\n\n## [Unreleased]\n\n## 1.3.0\n\n- A\n'])(
    'are required: the release fails with %j',
    (changelog) => {
      expect(release(changelog)).toEqual({ status: 1, changelog });
    },
  );

  it('are there for the version of package.json, which is published once no changeset is left', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const [, notes = ''] = readFileSync('CHANGELOG.md', 'utf8').split(`\n## ${version}\n`);
    expect(notes.split('\n## ')[0]!.trim()).not.toBe('');
  });
});

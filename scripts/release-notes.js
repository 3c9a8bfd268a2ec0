// Moves the notes under [Unreleased] in CHANGELOG.md to the version that changesets has just written to package.json.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const changelog = readFileSync('CHANGELOG.md', 'utf8');

const [unreleased] = changelog.split('## [Unreleased]\n').slice(1);
const notes = unreleased?.split(/^## /m)[0].trim();
if (!notes) {
  console.error('CHANGELOG.md has no notes under [Unreleased]');
  process.exit(1);
}
// The release workflow looks for a heading of just this form, and makes what is below it the text of the GitHub release.
writeFileSync('CHANGELOG.md', changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## ${version}\n`));

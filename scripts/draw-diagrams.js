// Draws the diagrams of the docs from the tables that they show: `npm run diagrams`. `--check` writes nothing, and fails
// where one is stale.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../bench/typescript.mjs';

const { diagrams } = await import('../docs/.vitepress/diagrams/diagrams.ts');
const FOLDER = 'docs/diagrams';

const drawn = await diagrams();
if (process.argv.includes('--check')) {
  const stale = Object.keys(drawn).filter((name) => !isCurrent(name));
  const unknown = readdirSync(FOLDER).filter((name) => !(name in drawn));
  for (const name of [...stale, ...unknown]) console.error(`${join(FOLDER, name)} is stale: npm run diagrams`);
  process.exitCode = stale.length + unknown.length > 0 ? 1 : 0;
} else {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, svg] of Object.entries(drawn)) writeFileSync(join(FOLDER, name), svg);
}

function isCurrent(name) {
  const file = join(FOLDER, name);
  return existsSync(file) && readFileSync(file, 'utf8') === drawn[name];
}

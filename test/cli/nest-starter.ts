import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const TEMPLATES = 'node_modules/@nestjs/schematics/dist/lib/application/files';

/** What `nest new` asks for, and what a merchant changes before anything else. */
export interface Starter {
  readonly modules?: 'ESM' | 'CommonJS';
  readonly nest?: number;
  readonly adapter?: 'express' | 'fastify';
}

/** Writes the files of `nest new` into a folder, from the schematics that are installed here. */
export function writeStarter(
  folder: string,
  { modules = 'CommonJS', nest = 12, adapter = 'express' }: Starter = {},
): void {
  const templates = join(TEMPLATES, modules === 'ESM' ? 'ts-esm' : 'ts');
  for (const entry of readdirSync(templates, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const template = join(entry.parentPath, entry.name);
    const file = join(folder, template.slice(templates.length + 1).replace('__specFileSuffix__', 'spec'));
    mkdirSync(dirname(file), { recursive: true });
    const text = readFileSync(template, 'utf8')
      .replace(/<% if \(observe\) \{ %>[\s\S]*?<% \} %>/g, '')
      .replaceAll('<%= strict %>', 'true')
      .replace(/<%= \w+ %>/g, 'spec');
    writeFileSync(file, text);
  }
  const manifest = join(folder, 'package.json');
  const text = readFileSync(manifest, 'utf8')
    .replace(/("@nestjs\/(?:core|common|platform-express)": )"\^12\.0\.1"/g, `$1"^${nest}.0.1"`)
    .replace('platform-express', `platform-${adapter}`);
  writeFileSync(manifest, text);
}

/** The files of a folder with their texts, without links. */
export function textsIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

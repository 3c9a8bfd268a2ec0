import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../command.js';
import type { NestProject } from './nest-project.js';
import { isStarterFile, OBSOLETE_FILES } from './starter-files.js';
import { FILES, IGNORED, SETTINGS, type TutorialFile } from './tutorial-files.js';

/** A file of the project that the tutorial needs otherwise than it is. */
export interface PlannedChange {
  /** From the project's folder, with slashes. */
  readonly path: string;
  /**
   * `new`: it does not exist. `starter`: it is as `nest new` wrote it. `own`: the merchant wrote it. `lines`: it keeps
   * its lines and gets more at its end.
   */
  readonly kind: 'new' | 'starter' | 'own' | 'lines';
  /** The file as it was read; null if it does not exist. */
  readonly before: Buffer | null;
  /** The file as it should be; null if it goes. */
  readonly after: Buffer | null;
  /** The lines that `lines` adds. */
  readonly added: readonly string[];
}

/** The application's own module. While it is not the tutorial's, it may need the files that the tutorial does not. */
export const MODULE_FILE = 'src/app.module.ts';

/**
 * Compares the project's files with the tutorial's. It reads only.
 *
 * @returns what is to be changed; nothing for files that are right
 * @throws UsageError if a path is a link or a folder, or cannot be read
 */
export function plannedChanges(project: NestProject): PlannedChange[] {
  const files = FILES.filter((file) => isFor(project, file)).flatMap((file) => sourceChange(project, file));
  const settings = SETTINGS.flatMap(({ path, text }) => {
    const before = fileIn(project.folder, path);
    const known = parseEnv(before?.toString('utf8') ?? '');
    const lines = text.trimEnd().split('\n');
    return addition(
      path,
      before,
      lines.filter((line) => known[line.split('=', 1)[0] ?? ''] === undefined),
    );
  });
  return [...files, ...removals(project, files), ...settings, ...ignoreChange(project)];
}

function isFor({ adapter, dependencies, devDependencies }: NestProject, file: TutorialFile): boolean {
  if (file.adapter !== null && file.adapter !== adapter) return false;
  const installed = [...dependencies, ...devDependencies];
  return !file.isTest || (installed.includes('@nestjs/testing') && installed.includes('supertest'));
}

function sourceChange({ folder, modules }: NestProject, { path, text }: TutorialFile): PlannedChange[] {
  const wanted = modules === 'ESM' ? text : text.replace(/('\.{1,2}\/[^'\n]{1,100})\.js'/g, "$1'");
  const before = fileIn(folder, path);
  const current = before?.toString('utf8') ?? '';
  // Git may have changed the line ends.
  if (before !== null && current.replaceAll('\r\n', '\n') === wanted) return [];
  const kind = before === null ? 'new' : isStarterFile(path, current) ? 'starter' : 'own';
  return [{ path, kind, before, after: Buffer.from(wanted), added: [] }];
}

function removals({ folder }: NestProject, files: readonly PlannedChange[]): PlannedChange[] {
  const obsolete = OBSOLETE_FILES.flatMap((path): PlannedChange[] => {
    const before = fileIn(folder, path);
    if (before === null || !isStarterFile(path, before.toString('utf8'))) return [];
    return [{ path, kind: 'starter', before, after: null, added: [] }];
  });
  const known = [...files, ...obsolete].map(({ path }) => path);
  const others = ['src', 'test'].flatMap((top) => sourcesIn(folder, top)).filter((path) => !known.includes(path));
  const isUsed = others.some((path) => /app\.(?:controller|service)\b/.test(readFileSync(join(folder, path), 'utf8')));
  return isUsed ? [] : obsolete;
}

function sourcesIn(folder: string, top: string): string[] {
  const stats = lstatSync(join(folder, top), { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return [];
  return readdirSync(join(folder, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, '/').length).replaceAll('\\', '/'));
}

function ignoreChange({ folder }: NestProject): PlannedChange[] {
  const path = '.gitignore';
  const before = fileIn(folder, path);
  const lines = (before?.toString('utf8') ?? '').split(/\r?\n/).map((line) => line.trim().replace(/^\//, ''));
  return addition(
    path,
    before,
    IGNORED.filter((line) => !lines.includes(line) && !lines.includes(`${line}*`)),
  );
}

function addition(path: string, before: Buffer | null, added: readonly string[]): PlannedChange[] {
  if (added.length === 0) return [];
  const end = before?.includes('\r\n') ? '\r\n' : '\n';
  const lines = added.map((line) => line + end).join('');
  if (before === null) return [{ path, kind: 'new', before, after: Buffer.from(lines), added }];
  const gap = before.length === 0 || before.at(-1) === 0x0a ? '' : end;
  return [{ path, kind: 'lines', before, after: Buffer.concat([before, Buffer.from(gap + lines)]), added }];
}

/**
 * Reads a file that may be changed. A link is refused, since it may lead out of the project.
 *
 * @returns null if it does not exist
 */
function fileIn(folder: string, path: string): Buffer | null {
  const names = path.split('/');
  for (const [index] of names.entries()) {
    const part = names.slice(0, index + 1).join('/');
    const stats = statsOf(folder, part);
    if (stats === null) return null;
    const isFolderDue = index < names.length - 1;
    if (stats.isSymbolicLink()) throw new UsageError(`${part} is a symbolic link, through which nothing is written.`);
    if (isFolderDue && !stats.isDirectory()) throw new UsageError(`${part} is not a folder.`);
    if (!isFolderDue && !stats.isFile()) throw new UsageError(`${part} is not a file.`);
  }
  try {
    return readFileSync(join(folder, path));
  } catch (error) {
    throw unreadable(path, error);
  }
}

function statsOf(folder: string, path: string): Stats | null {
  try {
    return lstatSync(join(folder, path), { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): UsageError {
  return new UsageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
}

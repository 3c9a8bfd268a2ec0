import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import prettier from 'prettier';
import { SURVIVORS } from './survivors.js';

const FOLDER = 'test/mutation/figures';
const MAX_SHOWN = 100;

/**
 * What a run found in one file. It is committed, so that parts can be run on different days.
 *
 * @typedef {{ line: number, change: string }} Survivor
 * @typedef {{ measured: string, code: string, noticed: number, survivors: Survivor[] }} Figures `code` is the hash of
 *   the file at that time
 */

/** @param kind `incremental` for the file by which Stryker skips changes that it has tried before */
export function resultsFile(file, kind = 'results') {
  return `reports/mutation/${file.replace(/^lib\/|\.ts$/g, '').replaceAll('/', '.')}.${kind}.json`;
}

/** @returns {Record<string, Figures>} of the files of a part that have been measured */
export function readFigures({ name, files }) {
  const path = `${FOLDER}/${name}.json`;
  const all = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  return Object.fromEntries(Object.keys(files).flatMap((file) => (all[file] ? [[file, all[file]]] : [])));
}

/** Reads what Stryker has just found in a file. */
export async function recordFigures(part, file) {
  // Stryker does not report a file in which it finds nothing to change.
  const nothing = { source: readFileSync(file, 'utf8'), mutants: [] };
  const { source, mutants } = JSON.parse(readFileSync(resultsFile(file), 'utf8')).files[file] ?? nothing;
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const survivors = mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ location, replacement }) => ({
      line: location.start.line,
      change: `${shortened(snippet(source, location))} → ${shortened(replacement)}`,
    }))
    .sort((a, b) => a.line - b.line);
  const figures = {
    measured: new Date().toISOString().slice(0, 10),
    code: hashOf(source),
    noticed: count('Killed', 'Timeout', 'RuntimeError'),
    survivors,
  };
  const path = `${FOLDER}/${part.name}.json`;
  const text = JSON.stringify({ ...readFigures(part), [file]: figures });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path, await prettier.format(text, { ...(await prettier.resolveConfig(path)), filepath: path }));
}

/** Whether the file is no longer the one that was measured. */
export function isChanged(file, { code }) {
  return !existsSync(file) || hashOf(readFileSync(file, 'utf8')) !== code;
}

export function reasonOf(file, change) {
  return SURVIVORS.find((group) => group.file === file && group.changes.includes(change))?.reason ?? null;
}

/** @param {readonly Figures[]} figures */
export function scoreOf(figures) {
  const noticed = figures.reduce((sum, one) => sum + one.noticed, 0);
  const survived = figures.reduce((sum, { survivors }) => sum + survivors.length, 0);
  const changes = noticed + survived;
  return { noticed, survived, percent: changes === 0 ? 100 : Math.floor((1000 * noticed) / changes) / 10 };
}

function hashOf(source) {
  return createHash('sha256').update(source).digest('hex').slice(0, 16);
}

function snippet(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  return lines.join('\n');
}

function shortened(code) {
  const line = code.replace(/\s+/g, ' ');
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}

import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandFailedError } from '../command.js';
import type { PlannedChange } from './planned-changes.js';

/** A file that was written or removed. */
export interface WrittenChange extends PlannedChange {
  /** The copy of the merchant's own file; null if none was needed. */
  readonly copy: string | null;
}

/**
 * Makes all changes, or none: every new text is written next to its file first, and takes its name only when all are
 * there.
 *
 * @throws CommandFailedError if a file cannot be written, or has changed since it was read. It says what was written:
 * nothing, unless a rename failed
 */
export function writeChanges(folder: string, changes: readonly PlannedChange[]): WrittenChange[] {
  const undo: (() => void)[] = [];
  let written: WrittenChange[];
  let current = '';
  try {
    for (const { path, before, after } of changes) {
      current = path;
      if (after !== null) stage(join(folder, path), before, after, undo);
    }
    written = changes.map((change) => {
      current = change.path;
      refuseIfChanged(join(folder, change.path), change);
      return { ...change, copy: change.kind === 'own' ? copyOf(folder, change.path, undo) : null };
    });
  } catch (error) {
    undoAll(undo);
    throw failure(current, error, 'Nothing was changed.');
  }
  const done: string[] = [];
  try {
    for (const { path, after } of changes) {
      current = path;
      if (after === null) rmSync(join(folder, path));
      else renameSync(temporary(join(folder, path)), join(folder, path));
      done.push(path);
    }
  } catch (error) {
    for (const { path } of changes) rmSync(temporary(join(folder, path)), { force: true });
    const so = done.length === 0 ? 'Nothing was changed.' : `These were: ${done.join(', ')}. Run it again.`;
    throw failure(current, error, so);
  }
  return written;
}

function stage(file: string, before: Buffer | null, after: Buffer, undo: (() => void)[]): void {
  const made = mkdirSync(dirname(file), { recursive: true });
  if (made !== undefined) undo.push(() => rmdirSync(dirname(file)));
  const mode = before === null ? 0o666 : statSync(file).mode;
  undo.push(() => rmSync(temporary(file), { force: true }));
  writeFileSync(temporary(file), after, { flag: 'wx', mode });
}

function temporary(file: string): string {
  return `${file}.init-${process.pid}.tmp`;
}

/** A person may have answered questions for a long time. */
function refuseIfChanged(file: string, { path, before }: PlannedChange): void {
  const isSame = before === null ? !existsSync(file) : readFileSync(file).equals(before);
  if (!isSame) throw new CommandFailedError(`${path} has changed meanwhile. Nothing was changed: run it again.`);
}

/** Copies a file next to itself, over no other. */
function copyOf(folder: string, path: string, undo: (() => void)[]): string {
  for (let number = 1; ; number += 1) {
    const copy = `${path}.bak${number === 1 ? '' : number}`;
    if (existsSync(join(folder, copy))) continue;
    copyFileSync(join(folder, path), join(folder, copy), constants.COPYFILE_EXCL);
    undo.push(() => rmSync(join(folder, copy), { force: true }));
    return copy;
  }
}

function undoAll(undo: readonly (() => void)[]): void {
  for (const step of undo.toReversed()) {
    try {
      step();
    } catch {
      // What remains is an empty folder or a temporary file, of no effect.
    }
  }
}

function failure(path: string, error: unknown, so: string): CommandFailedError {
  if (error instanceof CommandFailedError) return error;
  const { code } = error as NodeJS.ErrnoException;
  return new CommandFailedError(`${path} cannot be written (${code}). ${so}`);
}

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CommandFailedError, UsageError } from './command.js';

/**
 * A file that appears when it is whole, in place of the one that was there: until then, that one stays. Only its owner
 * can read it.
 */
export class WholeFile {
  private isFinished = false;

  private constructor(
    private readonly path: string,
    private readonly temporary: string,
    private readonly handle: FileHandle,
  ) {}

  /**
   * @throws UsageError if the path is of something else than a file, CommandFailedError if it cannot be written
   */
  static async begin(path: string): Promise<WholeFile> {
    // A link would be replaced, or lead to a file that others read.
    const there = await lstat(path).catch(() => null);
    if (path === '' || (there && !there.isFile())) {
      throw new UsageError(`--output takes the path of a file${there ? `, and ${path} is something else` : ''}.`);
    }
    const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
      return new WholeFile(path, temporary, await open(temporary, flags, 0o600));
    } catch {
      throw unwritable(path);
    }
  }

  /** @throws CommandFailedError */
  async write(text: string): Promise<void> {
    try {
      await this.handle.writeFile(text);
    } catch {
      throw unwritable(this.path);
    }
  }

  /** @throws CommandFailedError */
  async finish(): Promise<void> {
    try {
      await this.handle.sync();
      await this.handle.close();
      await rename(this.temporary, this.path);
      this.isFinished = true;
    } catch {
      throw unwritable(this.path);
    }
  }

  /** Leaves the path as it was. Does nothing once the file is finished. */
  async discard(): Promise<void> {
    if (this.isFinished) return;
    await this.handle.close().catch(() => undefined);
    await rm(this.temporary, { force: true }).catch(() => undefined);
  }
}

function unwritable(path: string): CommandFailedError {
  return new CommandFailedError(`${path} cannot be written; is there such a folder, with room in it, for this user?`);
}

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeBlocks, writeBlocks } from './guide.js';

/** Code of a page, loaded into this process. */
export class GuideRecipes {
  private readonly folder: string;

  /** @param page whose blocks are written as files: those that name theirs */
  constructor(private readonly page: string) {
    // Inside the repository, so that its packages are found.
    mkdirSync('reports', { recursive: true });
    this.folder = mkdtempSync(join(resolve('reports'), 'guide-'));
  }

  async load<Module>(path: string): Promise<Module> {
    const blocks = codeBlocks(this.page).filter((block) => block.path?.endsWith('.ts'));
    const written = writeBlocks(blocks, this.folder, 'with .js').find((block) => block.path === path);
    if (!written) throw new Error(`${this.page} has no ${path}`);
    return (await import(written.file)) as Module;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

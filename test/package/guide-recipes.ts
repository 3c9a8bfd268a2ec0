import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeScratchFolder, type ScratchFolder } from '../rigs/scratch-folder.js';
import { type CodeBlock, codeBlocks, writeBlocks } from './guide.js';

/** Loads code of a page into this process. */
export class GuideRecipes {
  private readonly folder: ScratchFolder;

  /**
   * @param page its blocks with a file name are written as files
   * @param others files of its project that it does not show
   */
  constructor(
    private readonly page: string,
    private readonly others: readonly CodeBlock[] = [],
  ) {
    // The folder is inside the repository, so that imports find its packages.
    mkdirSync('reports', { recursive: true });
    this.folder = makeScratchFolder('guide', resolve('reports'));
  }

  async load<Module>(path: string): Promise<Module> {
    const blocks = [...this.others, ...codeBlocks(this.page)].filter((block) => block.path?.endsWith('.ts'));
    const written = writeBlocks(blocks, this.folder.path, 'with .js').find((block) => block.path === path);
    if (!written) throw new Error(`${this.page} has no ${path}`);
    return (await import(written.file)) as Module;
  }

  remove(): void {
    this.folder.remove();
  }
}

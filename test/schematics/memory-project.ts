import { checkout, nestAdd } from '../../lib/schematics/index.js';
import type { Context, Tree } from '../../lib/schematics/project.js';

/** Where the source is: below the settings of stock prettier. */
export const SOURCE = 'sample/starter/src';
export const MODULE = `${SOURCE}/app.module.ts`;
export const MAIN = `${SOURCE}/main.ts`;

interface Task {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** A project as `nest new` makes it, in memory, on which the schematics are run. */
export class MemoryProject {
  readonly files: Map<string, string>;
  readonly printed: string[] = [];
  readonly warned: string[] = [];
  readonly tasks: Task[] = [];

  /** @param files in place of those that `nest new` makes, or besides them */
  constructor(files: Readonly<Record<string, string>> = {}, nest: 11 | 12 = 12) {
    const type = nest === 12 ? 'module' : undefined;
    const js = type ? '.js' : '';
    const dependencies = { '@nestjs/core': `^${nest}.0.1`, rxjs: '^7.8.1' };
    const made = {
      'package.json': JSON.stringify({ name: 'shop', type, dependencies }),
      [MODULE]: `import { Module } from '@nestjs/common';
import { AppController } from './app.controller${js}';

@Module({
  imports: [],
  controllers: [AppController],
})
export class AppModule {}
`,
      [MAIN]: `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module${js}';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
bootstrap();
`,
    };
    this.files = new Map(Object.entries({ ...made, ...files }));
  }

  get manifest(): Record<'dependencies' | 'devDependencies', Record<string, string>> & { pnpm?: object } {
    return JSON.parse(this.file('package.json')) as this['manifest'];
  }

  file(path: string): string {
    const text = this.files.get(path);
    if (text === undefined) throw new Error(`There is no ${path}`);
    return text;
  }

  async add(options: Parameters<typeof nestAdd>[0] = {}): Promise<this> {
    await nestAdd({ sourceRoot: SOURCE, ...options })(this.tree, this.context);
    return this;
  }

  async generate(options: Parameters<typeof checkout>[0] = {}): Promise<this> {
    // What `nest generate` gives to every schematic.
    await checkout({ sourceRoot: SOURCE, language: 'ts', ...options })(this.tree, this.context);
    return this;
  }

  private get tree(): Tree {
    return {
      exists: (path) => this.files.has(path),
      readText: (path) => this.file(path),
      create: (path, content) => {
        if (this.files.has(path)) throw new Error(`${path} exists`);
        this.files.set(path, content);
      },
      overwrite: (path, content) => {
        this.file(path);
        this.files.set(path, content);
      },
    };
  }

  private get context(): Context {
    return {
      logger: { info: (message) => this.printed.push(message), warn: (message) => this.warned.push(message) },
      addTask: (task) => this.tasks.push(task.toConfiguration() as Task),
    };
  }
}

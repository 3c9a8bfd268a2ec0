import { checkout, nestAdd } from '../../lib/schematics/index.js';
import type { Context, Tree } from '../../lib/schematics/project.js';

/** Where the source is: below the settings of stock prettier. */
export const SOURCE = 'sample/starter/src';

export interface Kind {
  readonly nest?: 11 | 12;
  readonly isEsm?: boolean;
  readonly adapter?: 'Express' | 'Fastify';
  readonly files?: Readonly<Record<string, string>>;
}

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

  constructor({ nest = 12, isEsm = nest === 12, adapter = 'Express', files = {} }: Kind = {}) {
    const js = isEsm ? '.js' : '';
    const manifest = {
      name: 'shop',
      ...(isEsm ? { type: 'module' } : {}),
      dependencies: { '@nestjs/core': `^${nest}.0.1`, rxjs: '^7.8.1' },
      devDependencies: { prettier: '^3.4.2' },
    };
    this.files = new Map(
      Object.entries({
        'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
        [`${SOURCE}/app.module.ts`]: `import { Module } from '@nestjs/common';
import { AppController } from './app.controller${js}';
import { AppService } from './app.service${js}';

@Module({
  imports: [],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`,
        [`${SOURCE}/main.ts`]: adapter === 'Express' ? onExpress(js) : onFastify(js),
        ...files,
      }),
    );
  }

  get manifest(): Record<'dependencies' | 'devDependencies', Record<string, string>> & { pnpm?: object } {
    return JSON.parse(this.file('package.json')) as this['manifest'];
  }

  file(path: string): string {
    const text = this.files.get(path);
    if (text === undefined) throw new Error(`There is no ${path}`);
    return text;
  }

  source(name: string): string {
    return this.file(`${SOURCE}/${name}`);
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

const onExpress = (js: string): string => `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module${js}';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
bootstrap();
`;

const onFastify = (js: string): string => `import { NestFactory } from '@nestjs/core';
import {
  FastifyAdapter,
  NestFastifyApplication,
} from '@nestjs/platform-fastify';
import { AppModule } from './app.module${js}';

async function bootstrap() {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule,
    new FastifyAdapter(),
  );
  await app.listen(process.env.PORT ?? 3000);
}
bootstrap();
`;

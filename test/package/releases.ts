import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type DoPaymentDto, type PaymentEventState, type PaymentOptions } from 'nestjs-card-payment';
import { SCHEMA_VERSION } from '../../lib/store/sql/schema.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { TaskProcess } from '../rigs/task-process.js';
import { cleanEnvironment, packTarball, run } from './tarball.js';

const PACKAGE = 'node_modules/nestjs-card-payment';
const BUILDS = ['dist/esm', 'dist/cjs'];
/** The line of a build at which the list of steps is complete. */
const SCHEMA_VERSION_DECLARED = /^(?=(?:const|let|var) SCHEMA_VERSION = STEPS\.length)/m;

/** The migration that a release adds to the schema of its predecessor. */
export interface NextRelease {
  readonly version: string;
  /** The lowest schema version that a release must support after this migration. */
  readonly lowest: number;
  readonly sql: string;
}

/** Releases of the package, each unpacked for its own application; other packages are those of this repository. */
export class Releases {
  private readonly scratch = makeScratchFolder('releases');
  private readonly folder = this.scratch.path;

  /** Packs the output of `npm run build` as the release `this`. */
  static async pack(): Promise<Releases> {
    const releases = new Releases();
    symlinkSync(resolve('node_modules'), join(releases.folder, 'node_modules'));
    const tarball = await packTarball(releases.folder);
    const unpacked = join(releases.folder, 'this', PACKAGE);
    mkdirSync(unpacked, { recursive: true });
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', unpacked], { cwd: releases.folder });
    const shop = readFileSync('test/package/upgrade/shop.mjs', 'utf8');
    const tasks = pathToFileURL('test/rigs/tasks.mjs').href;
    writeFileSync(join(releases.folder, 'this', 'shop.mjs'), shop.replace('../../rigs/tasks.mjs', tasks));
    return releases;
  }

  /** Creates a release from another, with one more migration. */
  add(name: string, from: string, { version, lowest, sql }: NextRelease): void {
    const folder = join(this.folder, name);
    cpSync(join(this.folder, from), folder, { recursive: true });
    this.edit(name, 'package.json', (text) => text.replace(/"version": ".*?"/, `"version": "${version}"`));
    const step = `STEPS.push({ lowest: ${lowest}, statements: () => [${JSON.stringify(sql)}] });\n`;
    for (const build of BUILDS) {
      const file = this.fileOf(name, build, SCHEMA_VERSION_DECLARED);
      this.edit(name, file, (text) => text.replace(SCHEMA_VERSION_DECLARED, step));
    }
  }

  /** Starts a shop with a release, which serves {@link ShopTasks}. Rejects with its error if it did not start. */
  start(name: string, setup: ReleaseSetup): Promise<TaskProcess> {
    const script = join(this.folder, name, 'shop.mjs');
    return TaskProcess.fork(script, setup, { env: cleanEnvironment(), execArgv: [] });
  }

  remove(): void {
    this.scratch.remove();
  }

  /** The only file of a build that contains a match. */
  private fileOf(name: string, build: string, held: RegExp): string {
    const folder = join(this.folder, name, PACKAGE);
    const files = readdirSync(join(folder, build), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .map((file) => join(build, file))
      .filter((file) => held.test(readFileSync(join(folder, file), 'utf8')));
    const [file] = files;
    if (file === undefined || files.length > 1)
      throw new Error(`In one file of ${build}: ${held}, not in ${files.length}`);
    return file;
  }

  private edit(name: string, file: string, change: (text: string) => string): void {
    const path = join(this.folder, name, PACKAGE, file);
    const text = readFileSync(path, 'utf8');
    const changed = change(text);
    if (changed === text) throw new Error(`${file} has no longer the form that is edited here`);
    writeFileSync(path, changed);
  }
}

/** The schema version of this release. */
export const THIS_SCHEMA = SCHEMA_VERSION;

export interface ReleaseSetup {
  readonly options: PaymentOptions;
  /** The states that its handler `orders` declares. */
  readonly states: readonly PaymentEventState[];
  /** The file to which each handled event is appended as a line. */
  readonly journal: string;
}

export interface PaidSale {
  readonly conversationId: string;
  readonly state: string;
  /** The version of its record. */
  readonly change: number;
}

/** What a shop with some release is asked, in its own process. */
export interface ShopTasks {
  pay(sales: readonly DoPaymentDto[]): PaidSale[];
  /** The states of these payments in the store. */
  statesOf(conversationIds: readonly string[]): (string | null)[];
  /** Shuts the application down. */
  end(): void;
}

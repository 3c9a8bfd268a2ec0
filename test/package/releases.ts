import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type DoPaymentDto, type PaymentEventState, type PaymentOptions } from 'nestjs-card-payment';
import { SCHEMA_VERSION } from '../../lib/store/sql/payment-schema.js';
import { TaskProcess } from '../rigs/task-process.js';
import { cleanEnvironment, packTarball, run } from './tarball.js';

const PACKAGE = 'node_modules/nestjs-card-payment';
const BUILDS = ['dist/esm', 'dist/cjs'];
/** Where the steps of the schema are complete. */
const SCHEMA_VERSION_DECLARED = /^(?=(?:const|let|var) SCHEMA_VERSION = MIGRATIONS\.length)/m;

/** What a release adds to the schema of the one before it. */
export interface NextRelease {
  readonly version: string;
  /** The lowest version of the schema that a release must know from then on. */
  readonly lowest: number;
  readonly sql: string;
}

/** Releases of the package, each unpacked for an application of its own; all else is this repository's. */
export class Releases {
  private constructor(private readonly folder: string) {}

  /** Packs what `npm run build` made, as the release `this`. */
  static async pack(): Promise<Releases> {
    const releases = new Releases(mkdtempSync(join(tmpdir(), 'card-payment-releases-')));
    symlinkSync(resolve('node_modules'), join(releases.folder, 'node_modules'));
    const tarball = await packTarball(releases.folder);
    const unpacked = join(releases.folder, 'this', PACKAGE);
    mkdirSync(unpacked, { recursive: true });
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', unpacked], { cwd: releases.folder });
    cpSync('test/package/upgrade/shop.mjs', join(releases.folder, 'this', 'shop.mjs'));
    return releases;
  }

  /** Makes a release out of another one: with one more step of the schema. */
  add(name: string, from: string, { version, lowest, sql }: NextRelease): void {
    const folder = join(this.folder, name);
    cpSync(join(this.folder, from), folder, { recursive: true });
    this.edit(name, 'package.json', (text) => text.replace(/"version": ".*?"/, `"version": "${version}"`));
    const step = `MIGRATIONS.push({ lowest: ${lowest}, statements: () => [${JSON.stringify(sql)}] });\n`;
    for (const build of BUILDS) {
      const file = this.fileOf(name, build, SCHEMA_VERSION_DECLARED);
      this.edit(name, file, (text) => text.replace(SCHEMA_VERSION_DECLARED, step));
    }
  }

  /** Starts a shop with that release. */
  start(name: string, setup: ReleaseSetup): Promise<ReleaseProcess> {
    return ReleaseProcess.start(join(this.folder, name, 'shop.mjs'), setup);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The one file of a build that holds this. */
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

/** The version of the schema that this release makes. */
export const THIS_SCHEMA = SCHEMA_VERSION;

export interface ReleaseSetup {
  readonly options: PaymentOptions;
  /** What its handler `orders` declares. */
  readonly states: readonly PaymentEventState[];
  /** Where each handled event becomes a line. */
  readonly journal: string;
}

export interface PaidSale {
  readonly conversationId: string;
  readonly state: string;
  /** The version of its record. */
  readonly change: number;
}

/** A shop with some release, in a process of its own. */
export class ReleaseProcess {
  private constructor(private readonly process: TaskProcess) {}

  /** Rejects with what the application said when it did not start. */
  static async start(script: string, setup: ReleaseSetup): Promise<ReleaseProcess> {
    return new ReleaseProcess(await TaskProcess.fork(script, setup, { env: cleanEnvironment(), execArgv: [] }));
  }

  pay(sales: readonly DoPaymentDto[]): Promise<PaidSale[]> {
    return this.process.ask('pay', sales);
  }

  /** What it finds of these payments in the store. */
  statesOf(payments: readonly PaidSale[]): Promise<(string | null)[]> {
    return this.process.ask(
      'statesOf',
      payments.map(({ conversationId }) => conversationId),
    );
  }

  /** Shuts the application down. */
  end(): Promise<void> {
    return this.process.end();
  }

  kill(): Promise<void> {
    return this.process.kill();
  }
}

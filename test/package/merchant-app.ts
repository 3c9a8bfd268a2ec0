import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { SIMULATOR_CREDENTIALS } from 'nestjs-card-payment/simulator';
import { makeScratchFolder, type ScratchFolder } from '../rigs/scratch-folder.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { freePort } from '../services/server.js';
import { installLines } from './guide.js';
import { type Finished, npmInstall, packTarball, run, versionIn } from './tarball.js';

export type ProjectKind = 'nest11' | 'nest12';

const NEST: Readonly<Record<ProjectKind, string>> = { nest11: 'NestJS 11', nest12: 'NestJS 12' };
/** The optional peers that the README installs, too. */
const OF_THE_STORE = /^(?:kysely|better-sqlite3)(?:@|$)/;

/** A merchant's application outside this repository, with this package from a tarball and all others from the registry. */
export class MerchantApp {
  private tarball = '';

  private constructor(
    readonly kind: ProjectKind,
    private readonly scratch: ScratchFolder,
  ) {}

  get folder(): string {
    return this.scratch.path;
  }

  /**
   * Copies `test/package/merchant` into a project like one of `nest new`, and installs what the README says, with
   * further packages; but those of the store only where they are among them, since the package needs none.
   */
  static async install(kind: ProjectKind, ...further: string[]): Promise<MerchantApp> {
    const app = new MerchantApp(kind, makeScratchFolder(kind));
    cpSync(join('test/package', kind), app.folder, { recursive: true });
    cpSync('test/package/merchant', join(app.folder, 'src'), { recursive: true });
    cpSync('test/package/checks.cjs', join(app.folder, 'checks.cjs'));
    await app.writeSettings();
    app.tarball = await packTarball(app.folder);
    const needed = app.installLines('README.md').filter((name) => !OF_THE_STORE.test(name));
    await app.add([...needed, ...further]);
    return app;
  }

  /** The packages that a page says to install for this version of NestJS. */
  installLines(page: string): string[] {
    return installLines(page, NEST[this.kind]);
  }

  /** Runs `npm install`, with the tarball instead of the published package; a peer conflict is an error. */
  async add(packages: readonly string[], ...flags: string[]): Promise<void> {
    const named = packages.map((name) => (name === 'nestjs-card-payment' ? this.tarball : name));
    const peers = flags.includes('--legacy-peer-deps') ? [] : ['--strict-peer-deps'];
    await npmInstall(this.folder, ...peers, ...flags, ...named);
  }

  /** A Node of at least this version, installed from the registry if the current one is older. */
  async nodeOf(major: number): Promise<string> {
    if (Number(process.versions.node.split('.')[0]) >= major) return process.execPath;
    const folder = join(this.folder, `node-${major}`);
    const node = join(folder, 'node_modules/.bin/node');
    if (!existsSync(node)) {
      mkdirSync(folder);
      const args = ['install', '--prefix', folder, '--prefer-offline', '--no-audit', '--no-fund', `node@${major}`];
      const { stderr } = await this.run('npm', args);
      if (!existsSync(node)) throw new Error(`npm install node@${major} failed: ${stderr}`);
    }
    return node;
  }

  run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
    return run(command, args, { cwd: this.folder, env });
  }

  /** Type-checks and compiles, and returns the errors of the compiler. */
  async compile(project = '.', ...flags: string[]): Promise<string> {
    const { stdout } = await this.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project, ...flags]);
    return stdout;
  }

  /** Runs a script in Node, and parses the JSON that it prints. */
  node(...args: string[]): Promise<unknown> {
    return this.printed(process.execPath, args);
  }

  /** Runs `merchant/main.ts` on a store. */
  payOn(storeUrl: string, node = process.execPath): Promise<unknown> {
    return this.printed(node, ['dist/main.js'], { PAYMENT_STORE_URL: storeUrl });
  }

  private async printed(node: string, args: readonly string[], env = {}): Promise<unknown> {
    const { status, stdout, stderr } = await this.run(node, args, env);
    if (status !== 0) {
      throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
    }
    return JSON.parse(stdout);
  }

  version(packageName: string): string {
    return versionIn(this.folder, packageName);
  }

  remove(): void {
    this.scratch.remove();
  }

  private async writeSettings(): Promise<void> {
    const url = `http://127.0.0.1:${await freePort()}`;
    const settings = {
      ...variablesOf({ url, credentials: SIMULATOR_CREDENTIALS }),
      PAYMENT_PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
      PAYMENT_SUCCESS_URL: 'https://shop.example/paid',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.folder, '.env'), lines.join(''));
  }
}

/** The expected output of `merchant/main.ts`. */
export const BOTH_FLOWS_PAID = {
  direct: 'succeeded',
  threeD: 'succeeded',
  own: 'succeeded',
  location: 'https://shop.example/paid?conversationId={id}',
  paid: ['direct', 'threeD', 'own'],
  emitted: ['direct', 'threeD', 'own'],
  charges: [1, 1, 1],
  violations: [],
  receivesEventClass: true,
  refused: {
    status: 400,
    body: {
      statusCode: 400,
      message: 'The payment was refused before sending: cardDetails.cardNo: Card number has a mistyped digit',
    },
    errorsLogged: 0,
  },
};

/** Expects the output of `merchant/api-document.ts` to be an OpenAPI document that describes the merchant's routes. */
export async function expectApiDocument(printed: unknown): Promise<void> {
  const document = printed as { components: { schemas: Record<string, unknown> } } & Record<string, unknown>;
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  const { schemas } = document.components;
  expect(schemas['CheckoutDto']).toMatchObject({ required: ['cardDetails', 'cardHolderInfo'] });
  expect(schemas['CardDetailsDto']).toMatchObject({
    required: ['cardNo', 'expDate', 'cvv'],
    properties: { cvv: { type: 'string', pattern: '^\\d{3,4}$', writeOnly: true } },
  });
}

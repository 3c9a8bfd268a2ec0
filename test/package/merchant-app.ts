import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { SIMULATOR_CREDENTIALS } from 'nestjs-card-payment/simulator';
import { freePort } from '../services/server.js';
import { type Finished, packTarball, run } from './tarball.js';

/** A merchant's application outside this repository, with the packed package from a tarball and all else from the registry. */
export class MerchantApp {
  private constructor(readonly folder: string) {}

  /** Puts `test/package/merchant` into a project of the given kind, and installs it; a peer conflict is an error. */
  static async install(kind: 'nest11' | 'nest12'): Promise<MerchantApp> {
    const app = new MerchantApp(mkdtempSync(join(tmpdir(), `card-payment-${kind}-`)));
    cpSync(join('test/package', kind), app.folder, { recursive: true });
    cpSync('test/package/merchant', join(app.folder, 'src'), { recursive: true });
    await app.writeSettings();
    const tarball = await packTarball(app.folder);
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
    const { status, stderr } = await app.run('npm', ['install', '--strict-peer-deps', ...quiet, tarball]);
    if (status !== 0) {
      throw new Error(`npm install failed: ${stderr}`);
    }
    return app;
  }

  run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
    return run(command, args, { cwd: this.folder, env });
  }

  /** Type-checks and compiles; what the compiler found, nothing when all is well. */
  async compile(project = '.', ...flags: string[]): Promise<string> {
    const { stdout } = await this.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project, ...flags]);
    return stdout;
  }

  /** Runs a file or `['-e', code]` by plain Node, and reads the JSON that it prints. */
  async node(...args: string[]): Promise<unknown> {
    const { status, stdout, stderr } = await this.run(process.execPath, args);
    if (status !== 0) {
      throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
    }
    return JSON.parse(stdout);
  }

  version(packageName: string): string {
    const manifest = readFileSync(join(this.folder, 'node_modules', packageName, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async writeSettings(): Promise<void> {
    const { merchantId, clientId, clientSecret, apiKey } = SIMULATOR_CREDENTIALS;
    const settings = {
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      PAYMENT_MERCHANT_ID: merchantId,
      PAYMENT_CLIENT_ID: clientId,
      PAYMENT_CLIENT_SECRET: clientSecret,
      PAYMENT_API_KEY: apiKey,
      PAYMENT_PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
      PAYMENT_SUCCESS_URL: 'https://shop.example/paid',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.folder, '.env'), lines.join(''));
  }
}

/** What `merchant/main.ts` prints when all went well. */
export const BOTH_FLOWS_PAID = {
  direct: 'succeeded',
  threeD: 'succeeded',
  own: 'succeeded',
  location: 'https://shop.example/paid?conversationId={id}',
  paid: ['direct', 'threeD', 'own'],
  heard: ['direct', 'threeD', 'own'],
  charges: [1, 1, 1],
  violations: [],
};

/** Expects that what `merchant/api-document.ts` prints is OpenAPI, and describes what the merchant's routes take. */
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

/** Whether `require` and `import` of an entry give the same classes. */
export const ONE_COPY = `
  const entries = ['nestjs-card-payment', 'nestjs-card-payment/simulator', 'nestjs-card-payment/testing'];
  const isOneCopy = async (entry) => {
    const required = require(entry);
    const imported = await import(entry);
    return Object.keys(required).filter((name) => name !== '__esModule').every((name) => required[name] === imported[name]);
  };
  Promise.all(entries.map(isOneCopy)).then((all) => console.log(JSON.stringify(all)));
`;

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SIMULATOR_CREDENTIALS } from 'nestjs-card-payment/simulator';
import { useScratchFolder } from '../rigs/scratch-folder.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { runScript } from './tarball.js';

const MERCHANT = {
  ...variablesOf({ url: 'https://gateway.example', credentials: SIMULATOR_CREDENTIALS }),
  PAYMENT_PUBLIC_URL: 'https://shop.example',
};

const LOAD = {
  esm: `await import('nestjs-card-payment')`,
  cjs: `createRequire(process.cwd() + '/')('./dist/cjs/index.js')`,
};

/** A script that starts an application, and runs `more`. */
const script = (kind: keyof typeof LOAD, more: string): string => `
  import 'reflect-metadata';
  import { createRequire } from 'node:module';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  const { PaymentModule, PaymentService } = ${LOAD[kind]};
  class Shop {}
  Module({ imports: [PaymentModule.forRoot()] })(Shop);
  const app = await NestFactory.create(Shop, { logger: false });
  await app.init();
  const payments = app.get(PaymentService);
  ${more}
  await app.close();
`;

/** Registers a provider that keeps spans, and pays until there is one. */
const TRACED = `
  const { trace } = await import('@opentelemetry/api');
  const { BasicTracerProvider, SimpleSpanProcessor, InMemorySpanExporter } =
    await import('@opentelemetry/sdk-trace-base');
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  const hasSpan = () => exporter.getFinishedSpans().some(({ name }) => name === 'card_payment.doPayment');
  for (let tries = 0; tries < 200 && !hasSpan(); tries += 1) {
    await payments.doPayment({}).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (!hasSpan()) throw new Error('no span');
`;

/** The package of a file, such as `@nestjs/core`, or for a bundle of this package its source folders, such as `own/store/sql`. */
function partsOf(url: string): string[] {
  if (!isOwn(url)) return [/^(?:@[^/]+\/)?[^/]+/.exec(url.split('/node_modules/').at(-1)!)![0]];
  const sources = readFileSync(fileURLToPath(url), 'utf8').matchAll(/^\/\/ dist\/compiled\/(?:(.+)\/)?[^/]+\.js$/gm);
  return Array.from(sources, ([, folder]) => `own/${folder ?? ''}`);
}

function isOwn(url: string): boolean {
  return !url.includes('/node_modules/') && /\/dist\/(?:esm|cjs)\//.test(url);
}

const ON_DEMAND =
  /^(?:better-sqlite3|kysely|mysql2|pg|@nestjs\/(?:event-emitter|terminus|swagger)|@opentelemetry\/.*|own\/(?:cli|desk|simulator|testing|swagger)(?:\/.*)?)$/;

describe.each(['esm', 'cjs'] as const)('an application (%s) loads', (kind) => {
  const folder = useScratchFolder('loaded');

  /** The loaded files, and of the loaded packages and folders of this package those that not every application needs. */
  async function loaded(env: Readonly<Record<string, string>> = {}, more = '') {
    // Node.js says there which scripts it ran.
    const coverage = folder.file('coverage');
    await runScript(script(kind, more), { ...MERCHANT, ...env, NODE_V8_COVERAGE: coverage });
    const reports = readdirSync(coverage).map((name) => readFileSync(folder.file(`coverage/${name}`), 'utf8'));
    const urls = reports.flatMap((text) => (JSON.parse(text) as { result: { url: string }[] }).result);
    const files = [...new Set(urls.map(({ url }) => url))].filter(
      (url) => url.startsWith('file:') && /\.[cm]?js$/.test(url),
    );
    const parts = [...new Set(files.flatMap(partsOf))];
    return { files, parts, onDemand: parts.filter((part) => ON_DEMAND.test(part)).sort() };
  }

  it('no driver, simulator, command line or OpenTelemetry that it does not use', async () => {
    const { files, parts, onDemand } = await loaded();
    expect(onDemand).toEqual([]);
    // The required parts prove that the loaded files were recorded.
    expect(parts).toEqual(
      expect.arrayContaining(['own/', 'own/operations', 'own/store/memory', 'undici', '@nestjs/core']),
    );
    // Each file takes time.
    expect(files.filter(isOwn).length).toBeLessThanOrEqual(4);
  });

  it('only the driver of its store', async () => {
    const { onDemand } = await loaded({ PAYMENT_STORE_URL: `sqlite:${folder.file('payments.db')}` });
    expect(onDemand).toEqual(['better-sqlite3', 'kysely']);
  });

  it('the simulator if it pays at simulator:', async () => {
    const env = { PAYMENT_BASE_URL: 'simulator:', PAYMENT_PUBLIC_URL: 'http://127.0.0.1:3000' };
    expect((await loaded(env)).onDemand).toContain('own/simulator');
  });

  it('OpenTelemetry if a provider is registered, even after the start', async () => {
    expect((await loaded({}, TRACED)).onDemand).toContain('@opentelemetry/api');
  });
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SIMULATOR_CREDENTIALS } from 'nestjs-card-payment/simulator';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { runScript } from './tarball.js';

const MERCHANT = {
  ...variablesOf({ url: 'https://gateway.example', credentials: SIMULATOR_CREDENTIALS }),
  PAYMENT_PUBLIC_URL: 'https://shop.example',
};

/** Hooks that report the modules which Node's ES module loader loads in its own thread. */
const HOOKS = `
  let port;
  export const initialize = (given) => void (port = given.port);
  export function load(url, context, next) {
    port.postMessage(url);
    return next(url, context);
  }
`;

/** A script that starts an application, runs `more`, and prints every loaded file. */
const script = (kind: 'esm' | 'cjs', more: string): string => `
  const { MessageChannel } = process.getBuiltinModule('node:worker_threads');
  const { Module: Loader, register } = process.getBuiltinModule('node:module');
  const { pathToFileURL } = process.getBuiltinModule('node:url');
  const { port1, port2 } = new MessageChannel();
  const loaded = new Set();
  port1.on('message', (url) => loaded.add(url)).unref();
  register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOKS)}`)}, { data: { port: port2 }, transferList: [port2] });

  (async () => {
    await import('reflect-metadata');
    const { Module } = await import('@nestjs/common');
    const { NestFactory } = await import('@nestjs/core');
    const { PaymentModule, PaymentService } = ${
      kind === 'esm' ? `await import('nestjs-card-payment')` : `require('./dist/cjs/index.js')`
    };
    class Shop {}
    Module({ imports: [PaymentModule.forRoot()] })(Shop);
    const app = await NestFactory.create(Shop, { logger: false });
    await app.init();
    const payments = app.get(PaymentService);
    ${more}
    await app.close();
    // The hooks report in order: once they have reported this one, they have reported all.
    const last = 'data:text/javascript,0';
    await import(last);
    while (!loaded.has(last)) await new Promise((resolve) => setTimeout(resolve, 5));
    const files = [...loaded, ...Object.keys(Loader._cache).map((file) => pathToFileURL(file).href)];
    console.log(JSON.stringify(files.filter((url) => url.startsWith('file:'))));
    process.exit();
  })();
`;

/** The loaded packages, and the loaded folders of this package. */
async function loaded(...run: Parameters<typeof loadedFiles>): Promise<Set<string>> {
  return new Set((await loadedFiles(...run)).flatMap(partsOf));
}

async function loadedFiles(
  kind: 'esm' | 'cjs',
  env: Readonly<Record<string, string>> = {},
  more = '',
): Promise<string[]> {
  const printed = await runScript(kind, script(kind, more), { ...MERCHANT, ...env });
  return JSON.parse(printed.split('\n').at(-1)!) as string[];
}

/** The package of a file, such as `@nestjs/core`, or for a bundle of this package its source folders, such as `own/store/sql`. */
function partsOf(url: string): string[] {
  if (!isOwn(url)) return [/^(?:@[^/]+\/)?[^/]+/.exec(url.split('/node_modules/').at(-1)!)![0]];
  const sources = readFileSync(fileURLToPath(url), 'utf8').matchAll(/^\/\/ dist\/compiled\/(?:(.+)\/)?[^/]+\.js$/gm);
  return Array.from(sources, ([, folder]) => `own/${folder ?? ''}`);
}

function isOwn(url: string): boolean {
  return !url.includes('/node_modules/') && /\/dist\/(?:esm|cjs)\//.test(url);
}

const ON_DEMAND = [
  'better-sqlite3',
  'kysely',
  'mysql2',
  'pg',
  '@nestjs/event-emitter',
  '@nestjs/terminus',
  '@nestjs/swagger',
];
const OWN_ON_DEMAND = ['cli', 'desk', 'simulator', 'testing', 'swagger'].map((part) => `own/${part}`);

function onDemandParts(parts: ReadonlySet<string>): string[] {
  return [...parts].filter(
    (part) =>
      ON_DEMAND.includes(part) ||
      part.startsWith('@opentelemetry/') ||
      OWN_ON_DEMAND.some((own) => part === own || part.startsWith(`${own}/`)),
  );
}

describe.each(['esm', 'cjs'] as const)('an application (%s) loads', (kind) => {
  it('no driver, simulator, command line or OpenTelemetry that it does not use', async () => {
    const files = new Set(await loadedFiles(kind));
    const parts = new Set([...files].flatMap(partsOf));
    expect(onDemandParts(parts)).toEqual([]);
    // The required parts prove that the loaded files were recorded.
    expect([...parts]).toEqual(
      expect.arrayContaining(['own/', 'own/operations', 'own/store/memory', 'undici', '@nestjs/core']),
    );
    // Each file takes time.
    expect([...files].filter(isOwn).length).toBeLessThanOrEqual(4);
  });

  it('only the driver of its store', async () => {
    const { file, remove } = makeScratchFolder('loaded');
    const parts = await loaded(kind, { PAYMENT_STORE_URL: `sqlite:${file('payments.db')}` });
    remove();
    expect(onDemandParts(parts).sort()).toEqual(['better-sqlite3', 'kysely']);
  });

  it('the simulator if it pays at simulator:', async () => {
    const parts = await loaded(kind, { PAYMENT_BASE_URL: 'simulator:', PAYMENT_PUBLIC_URL: 'http://127.0.0.1:3000' });
    expect(onDemandParts(parts)).toContain('own/simulator');
  });

  it('OpenTelemetry if a provider is registered, even after the start', async () => {
    const late = `
      const { trace } = await import('@opentelemetry/api');
      const spans = [];
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
    expect(onDemandParts(await loaded(kind, {}, late))).toContain('@opentelemetry/api');
  });
});

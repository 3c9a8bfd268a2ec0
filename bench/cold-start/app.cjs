// Starts a Nest application, empty or with the module, as its arguments say; both have the same peers. ES modules come by `import`, CommonJS by `require`.
const [kind, system] = process.argv.slice(2);
const load = system === 'esm' ? (name) => import(name) : (name) => Promise.resolve(require(name));
const OWN = system === 'esm' ? '../../dist/esm/index.js' : '../../dist/cjs/index.js';

(async () => {
  await load('reflect-metadata');
  const { Module } = await load('@nestjs/common');
  const { NestFactory } = await load('@nestjs/core');
  for (const peer of ['@nestjs/platform-express', '@nestjs/axios', 'axios', 'class-validator', 'class-transformer']) {
    await load(peer);
  }
  if (kind === 'undici') await load('undici');
  class App {}
  Module({ imports: kind === 'module' ? [await paymentModule()] : [] })(App);
  const app = await NestFactory.create(App, { logger: false });
  await app.init();
  const { user, system: ofKernel } = process.cpuUsage();
  process.send({ wallMs: performance.now(), cpuMs: (user + ofKernel) / 1000 });
  process.disconnect();
  process.exit();
})();

async function paymentModule() {
  const { PaymentModule } = await load(OWN);
  return PaymentModule.forRoot({
    baseUrl: 'https://gateway.example',
    merchantId: 'bench',
    clientId: 'bench',
    clientSecret: 'YmVuY2g=',
    apiKey: 'bench',
    dialect: 'morpos',
    publicUrl: 'https://shop.example',
  });
}

import { execFile } from 'node:child_process';
import { cleanEnvironment } from './tarball.js';

const CARD = `{ cardNo: '4508034508034509', expDate: '1236', cvv: '000' }`;

/** A merchant's script, up to where it has paid. It has no word on when to end. */
const PAY = `
  @IMPORT(reflect-metadata)
  @IMPORT(@nestjs/common, Module)
  @IMPORT(@nestjs/core, NestFactory)
  @IMPORT(nestjs-card-payment, PaymentModule, PaymentService, PaymentSimulator)

  class Shop {}
  Module({ imports: [PaymentModule.forRoot()] })(Shop);

  async function pay() {
    const app = await NestFactory.createApplicationContext(Shop, { logger: false });
    const [payments, simulator] = [app.get(PaymentService), app.get(PaymentSimulator)];
    const input = {
      cardDetails: ${CARD},
      transactionDetails: { amount: '149.90', currencyCode: 949 },
      cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    };
    const direct = await payments.doPayment(input);
    const { conversationId } = await payments.init3d(input);
    const { fields } = simulator.approve(conversationId);
    const threeD = await payments.auth3d({ conversationId, fields });
    console.log(direct.state, threeD.state, simulator.ledger.total());
    return app;
  }
`;

const SIMULATOR = `
  @IMPORT(node:http, Agent, request)
  @IMPORT(nestjs-card-payment/simulator, startSimulator)

  async function call() {
    const simulator = await startSimulator({ keepAliveTimeoutMs: 600_000 });
    const agent = new Agent({ keepAlive: true });
    const answer = await new Promise((resolve) => request(simulator.url, { agent }, resolve).end());
    answer.resume();
    await new Promise((resolve) => answer.on('end', resolve));
    console.log(answer.statusCode);
    return simulator;
  }
`;

/**
 * Runs a script as an ES module or as CommonJS, against the build.
 * @returns what it printed, once it has ended by itself
 */
function run(kind: 'esm' | 'cjs', script: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const code = script.replaceAll(/@IMPORT\(([^,)]+)(?:, ([^)]+))?\)/g, (_all, name: string, bindings?: string) => {
    if (kind === 'cjs') return `${bindings ? `const { ${bindings} } = ` : ''}require('${name}');`;
    return `import ${bindings ? `{ ${bindings} } from ` : ''}'${name}';`;
  });
  const args = [`--input-type=${kind === 'esm' ? 'module' : 'commonjs'}`, '-e', code];
  return new Promise((resolve, reject) => {
    const options = { env: { ...cleanEnvironment(), ...env }, timeout: 60_000 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error) reject(new Error(error.killed ? `It did not end: ${stdout}` : stderr));
      else resolve(stdout.trim());
    });
  });
}

const SIMULATED = { PAYMENT_BASE_URL: 'simulator:' };

describe.each(['esm', 'cjs'] as const)('a script (%s) ends by itself', (kind) => {
  it.each([
    ['having closed its application on simulator:', 'pay().then((app) => app.close())'],
    ['without having closed it', 'pay()'],
  ])('%s', async (_what, last) => {
    expect(await run(kind, `${PAY}${last};`, SIMULATED)).toBe('succeeded succeeded 299.80');
  });

  it.each([
    ['having closed its simulator', 'call().then((simulator) => simulator.close())'],
    ['without having closed it, a connection being open', 'call()'],
  ])('%s', async (_what, last) => {
    expect(await run(kind, `${SIMULATOR}${last};`)).toBe('404');
  });
});

it('loads the simulator only where it is used', async () => {
  const script = `
    ${PAY.replace('nestjs-card-payment', './dist/cjs/index.js')}
    const path = require('node:path');
    const isLoaded = () => Object.keys(require.cache).some((file) => file.split(path.sep).includes('simulator'));
    const atFirst = isLoaded();
    pay().then(() => console.log(atFirst, isLoaded()));
  `;
  expect(await run('cjs', script, SIMULATED)).toBe('succeeded succeeded 299.80\nfalse true');
});

import { execFile } from 'node:child_process';
import { built } from '../rigs/built.js';
import { cleanEnvironment } from './tarball.js';

const CARD = `{ cardNo: '4508034508034509', expDate: '1236', cvv: '000' }`;

/** The script of a merchant, up to the payments. It does not end the process itself. */
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
 * @returns its output, after it has ended by itself
 */
function run(kind: 'esm' | 'cjs', script: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const code = script.replaceAll(/@IMPORT\(([^,)]+)(?:, ([^)]+))?\)/g, (_all, name: string, bindings?: string) => {
    if (kind === 'cjs') return `${bindings ? `const { ${bindings} } = ` : ''}require('${name}');`;
    return `import ${bindings ? `{ ${bindings} } from ` : ''}'${name}';`;
  });
  const args = [`--input-type=${kind === 'esm' ? 'module' : 'commonjs'}`, '-e', code];
  built();
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
    ['after it has closed its application on simulator:', 'pay().then((app) => app.close())'],
    ['without closing its application', 'pay()'],
  ])('%s', async (_what, last) => {
    expect(await run(kind, `${PAY}${last};`, SIMULATED)).toBe('succeeded succeeded 299.80');
  });

  it.each([
    ['after it has closed its simulator', 'call().then((simulator) => simulator.close())'],
    ['without closing its simulator, which has an open connection', 'call()'],
  ])('%s', async (_what, last) => {
    expect(await run(kind, `${SIMULATOR}${last};`)).toBe('404');
  });
});

it('a CommonJS application loads the simulator only when it is used', async () => {
  const script = `
    ${PAY.replace('nestjs-card-payment', './dist/cjs/index.js')}
    const path = require('node:path');
    const isLoaded = () => Object.keys(require.cache).some((file) => file.split(path.sep).includes('simulator'));
    const before = isLoaded();
    pay().then(() => console.log(before, isLoaded()));
  `;
  expect(await run('cjs', script, SIMULATED)).toBe('succeeded succeeded 299.80\nfalse true');
});

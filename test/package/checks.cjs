// What an application sees of the packed package: `node checks.cjs NAME` prints it as JSON.
require('reflect-metadata');
const { ConsoleLogger, Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { HealthCheckService, TerminusModule } = require('@nestjs/terminus');
const { PaymentModule, PaymentService } = require('nestjs-card-payment');
const { PaymentHealthIndicator } = require('nestjs-card-payment/health');

class Shop {}
Module({
  imports: [TerminusModule, PaymentModule.forRoot({ baseUrl: 'simulator:' })],
  providers: [PaymentHealthIndicator],
})(Shop);

const pay = (app) =>
  app.get(PaymentService).doPayment({
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionDetails: { amount: '149.90', currencyCode: 949 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
  });

/** How Nest's logger prints the log record of a payment. */
async function logged(options) {
  const printed = [];
  const write = process.stdout.write;
  process.stdout.write = (text) => (printed.push(text), true);
  const app = await NestFactory.createApplicationContext(Shop, { logger: new ConsoleLogger(options) });
  const { conversationId } = await pay(app);
  await app.close();
  process.stdout.write = write;
  const [line] = printed.filter((text) => text.includes(`Payment ${conversationId},`));
  return line
    .replaceAll(conversationId, '{id}')
    .replace(/\d+ ms/, '{n} ms')
    .trim();
}

/** The outcome of a payment while the logger fails at each line of the module. */
async function paidWith(fail, options) {
  let lost = 0;
  const method = (...line) => (line.includes('PaymentModule') ? ((lost += 1), fail()) : undefined);
  const logger = Object.fromEntries(['log', 'warn', 'error', 'debug', 'verbose'].map((level) => [level, method]));
  const app = await NestFactory.createApplicationContext(Shop, options ?? { logger });
  if (options) app.useLogger(logger);
  const { state, stored } = await pay(app);
  await app.close();
  return [state, stored, lost > 2];
}

const CHECKS = {
  /** As a line in a console, and as an object in JSON. */
  log: async () => {
    const line = await logged({ colors: false });
    const { message, state, conversationId, kind, amount, currency } = JSON.parse(await logged({ json: true })).message;
    return [line.replace(/^.*(?=LOG)/, ''), { message, state, conversationId, kind, amount, currency }];
  },

  failingLogger: async () => {
    const unhandled = [];
    process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
    const throwing = () => {
      throw new Error('disk full');
    };
    const outcomes = [];
    for (const fail of [throwing, () => Promise.reject(new Error('disk full'))]) {
      for (const options of [undefined, { bufferLogs: true }]) outcomes.push(await paidWith(fail, options));
    }
    await new Promise(setImmediate);
    return [outcomes, unhandled];
  },

  health: async () => {
    const app = await NestFactory.createApplicationContext(Shop, { logger: false });
    const health = await app.resolve(HealthCheckService);
    const { status, details } = await health.check([() => app.get(PaymentHealthIndicator).check()]);
    await app.close();
    return [status, details.payments.status, details.payments.store, details.payments.background];
  },

  /** Whether `require` and `import` of each entry return the same classes. */
  copies: () =>
    Promise.all(
      ['', '/simulator', '/testing', '/health'].map(async (entry) => {
        const required = require(`nestjs-card-payment${entry}`);
        const imported = await import(`nestjs-card-payment${entry}`);
        const names = Object.keys(required).filter((name) => name !== '__esModule');
        return names.every((name) => required[name] === imported[name]);
      }),
    ),
};

CHECKS[process.argv[2]]().then((seen) => console.log(JSON.stringify(seen)));

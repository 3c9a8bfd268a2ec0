// Payments that are refused or fail, while a debugger stops at each throw and looks for the card in every variable of
// every function of dist on the stack, as error trackers do. Prints where it stopped, and what it found.
import 'reflect-metadata';
import { Session } from 'node:inspector';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const CARD = { cardNo: '5246776356903508', expDate: '1130', cvv: '792' };
/** Of a frame of dist, the local variables, those of closures that they are, and what hangs on them so far. */
const DEPTH = 4;

await (isMainThread ? runShop() : watch());

async function runShop() {
  const watcher = new Worker(new URL(import.meta.url));
  await new Promise((ready) => watcher.once('message', ready));
  const outcomes = await pay();
  // The test's own throw, to show that the watcher would find the card.
  (function plantedLeak(card) {
    try {
      throw new Error(`planted ${String(card.cvv).length}`);
    } catch {
      return card;
    }
  })(CARD);
  const seen = new Promise((resolve) => watcher.once('message', resolve));
  watcher.postMessage('end');
  console.log(JSON.stringify({ outcomes, ...(await seen) }));
  process.exit(0);
}

async function pay() {
  const [{ context, trace }, { AsyncLocalStorageContextManager }, { BasicTracerProvider }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/sdk-trace-base'),
  ]);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider());
  const { NestFactory } = await import('@nestjs/core');
  const { MemoryPaymentStore, PaymentModule, PaymentService } = await import('nestjs-card-payment');
  const { startSimulator } = await import('nestjs-card-payment/simulator');
  const simulator = await startSimulator({ dialect: 'morpos' });
  const start = async (options, structure = {}) => {
    const set = { ...simulator.credentials, dialect: 'morpos', baseUrl: simulator.url, background: false };
    const publicUrl = 'https://shop.example';
    const module = PaymentModule.forRoot({ ...set, publicUrl, ...options, ...structure });
    return NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  };
  let orders = 0;
  const sale = (more = {}) => ({
    reference: `order-${++orders}`,
    cardDetails: { ...CARD },
    transactionDetails: { amount: '149.90', currencyCode: 949 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    ...more,
  });
  const outcomes = {};
  /** Reads no message before the end: the host's own frames hold the card by right. */
  const attempt = async (name, payments, input, methods = ['doPayment', 'init3d']) => {
    for (const method of methods) {
      const given = typeof input === 'function' ? input() : input;
      const outcome = await payments[method](given).then(
        ({ state }) => state ?? 'started',
        ({ code }) => code,
      );
      outcomes[`${name}, ${method}`] = outcome;
    }
  };

  const app = await start({ maxInFlight: 1 });
  const payments = app.get(PaymentService);
  const withCard = (change) => () => sale({ cardDetails: { ...CARD, ...change } });
  await attempt('mistyped number', payments, withCard({ cardNo: '5246776356903509' }));
  await attempt('expired card', payments, withCard({ expDate: '1120' }));
  await attempt('wrong code', payments, withCard({ cvv: '79' }));
  await attempt('unknown field', payments, withCard({ pin: '1' }));
  await attempt('forbidden field', payments, withCard({ toJSON: '1' }));
  await attempt('too many fields', payments, () =>
    sale({ cardDetails: { ...CARD, ...Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`f${n}`, n])) } }),
  );
  await attempt('list', payments, () => [CARD]);
  await attempt('masked card', payments, withCard({ expDate: '****', cvv: '****' }));
  await attempt('card in a text', payments, () => sale({ reference: `r ${CARD.cardNo}` }));
  await attempt('wrong amount', payments, () => sale({ transactionDetails: { amount: '0', currencyCode: 949 } }));
  await attempt('good', payments, () => sale());
  const repeated = sale({ idempotencyKey: 'key-1' });
  await payments.doPayment(repeated);
  await attempt('other sale', payments, { ...repeated, transactionDetails: { amount: '1.00', currencyCode: 949 } });
  await attempt('reference taken', payments, { ...repeated, idempotencyKey: undefined }, ['init3d']);
  simulator.fail({
    operation: 'Init3d',
    kind: 'reply',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"code":"B0051"}',
  });
  await attempt('declined start', payments, () => sale(), ['init3d']);
  simulator.fail({ operation: 'any', kind: 'reply', status: 200, body: '<h1>Error</h1>', times: 2 });
  await attempt('unreadable', payments, () => sale());
  simulator.fail({ operation: 'DoPayment', kind: 'stall' });
  const busy = payments.doPayment(sale());
  await attempt('overload', payments, () => sale());
  await simulator.reset();
  await busy;
  await app.close();
  await attempt('shut down', payments, () => sale());

  const offline = await start({ baseUrl: 'http://127.0.0.1:9' });
  await attempt('no gateway', offline.get(PaymentService), () => sale());
  await offline.close();
  const lost = await start({ publicUrl: undefined }, { callback: false });
  await attempt('no addresses', lost.get(PaymentService), () => sale());
  await lost.close();
  for (const method of ['insert', 'replace']) {
    const store = new MemoryPaymentStore();
    store[method] = () => {
      throw new Error('down at once');
    };
    const stopped = await start({}, { store });
    // It is not closed, which would wait for the store.
    await attempt(`no ${method}`, stopped.get(PaymentService), () => sale());
  }
  await simulator.close();
  return outcomes;
}

async function watch() {
  const session = new Session();
  session.connectToMainThread();
  const post = (method, params) =>
    new Promise((resolve, reject) =>
      session.post(method, params, (error, result) => (error ? reject(new Error(error.message)) : resolve(result))),
    );
  const stops = [];
  const urls = new Map();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  const leaks = [];
  let work = Promise.resolve();
  session.on('Debugger.paused', ({ params }) => {
    work = look(params).then(
      () => post('Debugger.resume'),
      async (error) => {
        leaks.push(`the watcher failed: ${error.stack}`);
        await post('Debugger.resume');
      },
    );
  });
  // It also keeps this thread alive.
  parentPort.on('message', () => void work.then(() => parentPort.postMessage({ stops, leaks })));
  await post('Debugger.enable');
  await post('Debugger.setPauseOnExceptions', { state: 'all' });
  parentPort.postMessage('ready');

  async function look({ callFrames, data }) {
    const [what] = String(data?.description ?? data?.value).split(/[:\n]/);
    for (const { functionName, location, scopeChain, this: self } of callFrames) {
      const url = urls.get(location.scriptId) ?? '';
      const isOurs = /\/dist\/(esm|cjs)\//.test(url) && !url.includes('/dist/esm/simulator/');
      if (!isOurs && functionName !== 'plantedLeak') continue;
      const place = `${what} in ${functionName || 'a function'} of ${url.replace(/.*\/dist\/\w+\//, '')}`;
      stops.push(place);
      const own = scopeChain.filter(({ type }) => ['local', 'block', 'catch', 'eval', 'closure'].includes(type));
      const seen = { left: 20_000 };
      for (const { type, object } of own) await search(object, `${place}: ${type}`, 0, seen);
      await search(self, `${place}: this`, DEPTH - 1, seen);
    }
  }

  async function search(value, path, depth, seen) {
    if (!value) return;
    if (value.type === 'string' || value.type === 'number') {
      if (isCard(String(value.value))) leaks.push(path);
      return;
    }
    if (!value.objectId || depth > DEPTH || (seen.left -= 1) < 0) return;
    const request = { objectId: value.objectId, ownProperties: true };
    const found = await post('Runtime.getProperties', request).catch(() => null);
    if (!found) return;
    const { result, internalProperties = [], privateProperties = [] } = found;
    const inside = internalProperties.filter(({ name }) =>
      ['[[Scopes]]', '[[PromiseResult]]', '[[Entries]]'].includes(name),
    );
    for (const { name, value: member } of [...result, ...privateProperties]) {
      if (/^(constructor|prototype|__proto__)$/.test(name)) continue;
      // The module's and the global scope are nobody's variables.
      if (/^(Global|Module|Script)\b/.test(member?.description ?? '')) continue;
      await search(member, `${path}.${name}`, depth + 1, seen);
    }
    for (const { name, value: member } of inside) await search(member, `${path}.${name}`, depth, seen);
  }

  function isCard(text) {
    const digits = text.replace(/\D/g, '');
    return digits.includes(CARD.cardNo.slice(0, 15)) || [CARD.expDate, CARD.cvv].includes(text);
  }
}

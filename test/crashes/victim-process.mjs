// Makes one payment and kills itself on the way: at a named point of its flow.
import { setImmediate, setTimeout } from 'node:timers/promises';
import { Agent } from 'undici';
import { FAULTS } from './flawed-store.mjs';
import { openStore, startShop } from './shop.mjs';

const setup = JSON.parse(process.argv[2]);
const { flow, point, sale, storeUrl, fault } = setup;

/** Nothing kills while the payment is brought to where its flow begins. */
let isArmed = false;

function reached(name) {
  if (isArmed && name === point) process.kill(process.pid, 'SIGKILL');
}

let writes = 0;

async function written(write) {
  if (!isArmed) return write();
  writes += 1;
  const name = writes === 1 ? 'opening write' : 'closing write';
  reached(`before the ${name}`);
  const outcome = await write();
  reached(`after the ${name}`);
  return outcome;
}

const store = await openStore(storeUrl);
if (fault) FAULTS[fault](store, () => isArmed);
for (const name of ['insert', 'replace']) {
  const write = store[name].bind(store);
  store[name] = (...given) => written(() => write(...given));
}
const acknowledge = store.acknowledge.bind(store);
store.acknowledge = (...given) => {
  reached('after the handler');
  return acknowledge(...given);
};

const dispatcher = new Agent().compose((dispatch) => (request, handler) => {
  reached('before the request');
  return dispatch(request, {
    onRequestStart: (controller, context) => {
      handler.onRequestStart(controller, context);
      // By the next turn it is on the wire.
      void setImmediate().then(() => reached('after the request'));
    },
    onResponseStart: (...given) => {
      reached('before the reply');
      handler.onResponseStart(...given);
    },
    onResponseData: (...given) => handler.onResponseData(...given),
    onResponseEnd: (...given) => {
      handler.onResponseEnd(...given);
      reached('after the reply');
    },
    onResponseError: (...given) => handler.onResponseError(...given),
  });
});

const { payments } = await startShop(setup, { store, dispatcher }, () => reached('before the handler'));

switch (flow) {
  case 'direct':
    isArmed = true;
    await payments.doPayment(sale);
    break;
  case 'init3d':
    isArmed = true;
    await payments.init3d(sale);
    break;
  case 'auth3d': {
    await payments.init3d(sale);
    const approved = new Promise((resolve) => process.once('message', resolve));
    process.send('the buyer is at the bank');
    const fields = await approved;
    isArmed = true;
    await payments.auth3d({ conversationId: sale.conversationId, fields });
    break;
  }
}
// The payment's answer does not wait for its handlers where the machine is busy.
if (point.endsWith(' the handler')) await setTimeout(30_000);
process.exit(1);

import type { Scenario } from './explorer.js';
import { type Act, ENDING, type Script, Shop } from './shop.js';
import { sale } from '../rigs/sale.js';

const ORDER = 'order-1';
const KEY = 'key-1';
const DAY_MS = 86_400_000;

function input(more: Parameters<typeof sale>[1] = {}): ReturnType<typeof sale> {
  return sale('149.90', { reference: ORDER, ...more });
}

/** The payments that were made before, in their order. */
function made(shop: Shop, index = 0): string {
  return [...shop.gateway.sales.keys()][index]!;
}

const pay =
  (more: Parameters<typeof sale>[1] = {}): Act =>
  (_shop, host) =>
    host.payments.doPayment(input(more));
const start3d: Act = (_shop, host) => host.start3d(input());
const startPage: Act = (_shop, host) => host.startPage(input());
const callback =
  (index = 0): Act =>
  (shop, host) =>
    host.receiveCallback(made(shop, index));
const reconcile: Act = (_shop, host) => host.reconcile();
const abandon: Act = (shop, host) => host.payments.abandon(made(shop));
const refund =
  (amount: string, idempotencyKey?: string): Act =>
  (shop, host) =>
    host.payments.refund({ conversationId: made(shop), amount, idempotencyKey });
const voidSale: Act = (shop, host) => host.payments.void({ conversationId: made(shop) });

const payAtPage = {
  what: 'pays at the page',
  does: (shop: Shop): void => shop.gateway.payAtPage(made(shop)),
};

const inTurn =
  (...acts: readonly Act[]): Act =>
  async (shop, host) => {
    for (const act of acts) await act(shop, host);
  };

/** A payment that was paid so long ago that it can be purged. */
const makeOldPayment = inTurn(pay(), reconcile, (shop) => shop.clock.advance(2 * DAY_MS));

const CALLBACKS = { prepare: start3d, acts: [callback()], isPaid: true };

const ROWS: readonly Omit<Script, 'hosts' | 'faults'>[] = [
  { name: 'callbacks', ...CALLBACKS },
  { name: 'callbacks, reads too', ...CALLBACKS, steps: /^find/ },
  { name: 'callbacks, late writes', ...CALLBACKS, lateWrites: true },
  { name: 'one key twice', acts: [pay({ idempotencyKey: KEY })] },
  { name: 'one key twice, late writes', acts: [pay({ idempotencyKey: KEY })], lateWrites: true },
  { name: 'two clicks on an order', acts: [pay()] },
  { name: 'two tabs of an order', prepare: inTurn(start3d, start3d), acts: [callback(0), callback(1)], isPaid: true },
  { name: 'a callback beside a click', prepare: start3d, acts: [callback(), pay()] },
  { name: 'a callback beside the background', prepare: start3d, acts: [callback(), reconcile] },
  { name: 'two starts at the bank', acts: [start3d] },
  { name: 'two refunds', prepare: pay(), acts: [refund('100.00')] },
  { name: 'a refund twice', prepare: pay(), acts: [refund('100.00', KEY)] },
  { name: 'a refund beside a void', prepare: pay(), acts: [refund('100.00'), voidSale] },
  { name: 'two starts at a page', acts: [startPage] },
  { name: 'a page, paid and given up', prepare: startPage, acts: [abandon], buyer: payAtPage },
  { name: 'a page, given up and paid late', prepare: startPage, acts: [abandon, pay()], late: payAtPage.does },
  {
    name: 'a page whose buyer comes back',
    prepare: startPage,
    acts: [(shop, host) => host.returnFromPage(made(shop)), reconcile],
    buyer: payAtPage,
  },
  { name: 'handlers', prepare: pay(), acts: [reconcile], handlersToo: true, steps: /^acknowledge$/ },
  {
    name: 'a purge beside a refund',
    prepare: makeOldPayment,
    acts: [reconcile, refund('100.00')],
    retentionMs: DAY_MS,
    steps: /^(purge|findRefunds)$/,
  },
];

/** With two hosts and one fault, unless they are explored further. */
export const SCRIPTS = ROWS.map((row): Script => ({ hosts: 2, faults: 1, ...row }));

const EXTENTS = [
  { extent: '', moreFaults: 0, moreHosts: 0 },
  { extent: ', another fault', moreFaults: 1, moreHosts: 0 },
  { extent: ', another host', moreFaults: 0, moreHosts: 1 },
];

/**
 * How many schedules each script has in each extent: if a number drops, something is no longer explored. Where there is
 * none, it is not explored: three hosts to which a page's buyer comes back have too many.
 */
const SCHEDULES: Readonly<Record<string, readonly number[]>> = {
  callbacks: [76, 910, 282],
  'callbacks, reads too': [415, 6219, 21213],
  'callbacks, late writes': [190, 7586, 919],
  'one key twice': [74, 888, 279],
  'one key twice, late writes': [190, 7736, 932],
  'two clicks on an order': [74, 888, 279],
  'two tabs of an order': [306, 3462, 6398],
  'a callback beside a click': [220, 2480, 4324],
  'a callback beside the background': [14, 51, 152],
  'two starts at the bank': [233, 2538, 9800],
  'two refunds': [81, 980, 370],
  'a refund twice': [74, 888, 279],
  'a refund beside a void': [162, 1960, 2220],
  'two starts at a page': [70, 794, 265],
  'a page, paid and given up': [369, 4085, 7455],
  'a page, given up and paid late': [71, 688, 2540],
  'a page whose buyer comes back': [136, 1010],
  handlers: [62, 62, 62],
  'a purge beside a refund': [94, 597, 624],
};

/** Each script in its extents, the first of which is the one of the short tests. */
export const COUNTED = EXTENTS.flatMap(({ extent, moreFaults, moreHosts }, index) =>
  SCRIPTS.map(({ name, faults, hosts, ...script }) => ({
    script: { ...script, name: name + extent, faults: faults + moreFaults, hosts: hosts + moreHosts },
    schedules: SCHEDULES[name]![index],
  })).filter(({ schedules }) => schedules !== undefined),
);

export function scenarioOf(script: Script): Scenario {
  const { name, faults } = script;
  return { name, faults, ending: ENDING, begin: () => Shop.begin(script) };
}

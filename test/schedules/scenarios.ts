import type { Scenario } from './explorer.js';
import { LASTING, STRUCK } from './lasting-faults.js';
import { type Act, ENDING, type Script, Shop } from './shop.js';
import { sale } from '../rigs/sale.js';

const ORDER = STRUCK;
const OTHER_ORDER = 'order-2';
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
const abandon =
  (index = 0): Act =>
  (shop, host) =>
    host.payments.abandon(made(shop, index));
const refund =
  (amount: string, { idempotencyKey, index }: { idempotencyKey?: string; index?: number } = {}): Act =>
  (shop, host) =>
    host.payments.refund({ conversationId: made(shop, index), amount, idempotencyKey });
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

/** Two orders, each at a host of its own. */
const TWO_ORDERS = [pay(), pay({ reference: OTHER_ORDER })];

/** Handlers hear of the first order before the second is paid. */
const payOneAfterTheOther = inTurn(pay(), reconcile, pay({ reference: OTHER_ORDER }));

const CALLBACKS = { prepare: start3d, acts: [callback()], isPaid: true };

const TWO_CALLBACKS = { prepare: start3d, acts: [callback(), callback()] };

type Row = Omit<Script, 'hosts' | 'faults'> & Partial<Script>;

/** With two hosts, unless a row says otherwise. */
function scripts(faults: number, rows: readonly Row[]): Script[] {
  return rows.map((row) => ({ hosts: 2, faults, ...row }));
}

/** What goes on while something is broken for good, most often without any other fault. */
const BESIDE_WHAT_IS_BROKEN = scripts(0, [
  { name: 'the mail is down', hosts: 1, acts: [payOneAfterTheOther], breaks: LASTING.mailIsDown },
  { name: 'a handler refuses one order', hosts: 1, acts: [payOneAfterTheOther], breaks: LASTING.handlerRefusesOne },
  { name: 'one order is not answered', acts: TWO_ORDERS, breaks: LASTING.oneIsNotAnswered },
  {
    name: 'one refund is not answered',
    prepare: inTurn(...TWO_ORDERS),
    acts: [refund('100.00'), refund('100.00', { index: 1 })],
    breaks: LASTING.oneIsNotAnswered,
  },
  {
    name: 'one page is not answered',
    prepare: inTurn(startPage, (_, host) => host.startPage(input({ reference: OTHER_ORDER }))),
    acts: [abandon(0), abandon(1)],
    breaks: LASTING.oneIsNotAnswered,
  },
  { name: 'a host without the store', ...TWO_CALLBACKS, isPaid: true, breaks: LASTING.aHasNoStore },
  { name: 'a host without the gateway', ...TWO_CALLBACKS, breaks: LASTING.aHasNoGateway },
]);

export const SCRIPTS = scripts(1, [
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
  { name: 'a refund twice', prepare: pay(), acts: [refund('100.00', { idempotencyKey: KEY })] },
  { name: 'a refund beside a void', prepare: pay(), acts: [refund('100.00'), voidSale] },
  { name: 'two starts at a page', acts: [startPage] },
  { name: 'a page, paid and given up', prepare: startPage, acts: [abandon()], buyer: payAtPage },
  { name: 'a page, given up and paid late', prepare: startPage, acts: [abandon(), pay()], late: payAtPage.does },
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
  ...BESIDE_WHAT_IS_BROKEN,
]);

const EXTENTS = [
  { extent: '', moreFaults: 0, moreHosts: 0 },
  { extent: ', another fault', moreFaults: 1, moreHosts: 0 },
  { extent: ', another host', moreFaults: 0, moreHosts: 1 },
];

/**
 * How many schedules each script has in each extent: if a number drops, something is no longer explored. Where there is
 * none, it is not explored: beside what is broken for good, another fault rightly stops what needs both, and three hosts
 * to which a page's buyer comes back have too many.
 */
const SCHEDULES: Readonly<Record<string, readonly number[]>> = {
  'the mail is down': [7],
  'a handler refuses one order': [7],
  'one order is not answered': [125],
  'one refund is not answered': [125],
  'one page is not answered': [26],
  'a host without the store': [79],
  'a host without the gateway': [33],
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

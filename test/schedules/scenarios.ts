import type { Scenario } from './explorer.js';
import {
  A_HAS_NO_GATEWAY,
  A_HAS_NO_STORE,
  MAIL_IS_DOWN,
  ONE_IS_NOT_ANSWERED,
  HANDLER_REFUSES_ONE,
  STRUCK,
} from './lasting-faults.js';
import { ENDING, type Script, Shop, type ShopHost } from './shop.js';
import type { Payment } from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';

const ORDER = STRUCK;
const OTHER_ORDER = 'order-2';
const KEY = 'key-1';
const DAY_MS = 86_400_000;

/** A script, with the number of its schedules: if that drops, something is no longer explored. */
export interface CountedScript extends Script {
  readonly schedules: number;
}

function input(more: Parameters<typeof sale>[1] = {}): ReturnType<typeof sale> {
  return sale('149.90', { reference: ORDER, ...more });
}

/** The payments that were made before, in their order. */
function made(shop: Shop, index = 0): string {
  return [...shop.gateway.sales.keys()][index]!;
}

const pay =
  (more: Parameters<typeof sale>[1] = {}) =>
  (_shop: Shop, host: ShopHost): Promise<Payment> =>
    host.payments.doPayment(input(more));

async function prepare3d(_shop: Shop, host: ShopHost): Promise<void> {
  await host.start3d(input());
}

async function prepareTwoTabs(shop: Shop, host: ShopHost): Promise<void> {
  await prepare3d(shop, host);
  await prepare3d(shop, host);
}

async function preparePaid(_shop: Shop, host: ShopHost): Promise<void> {
  await host.payments.doPayment(input());
}

/** A payment that was paid so long ago that it can be purged. */
async function prepareOld(shop: Shop, host: ShopHost): Promise<void> {
  await preparePaid(shop, host);
  await host.reconcile();
  await shop.clock.advance(2 * DAY_MS);
}

async function preparePage(_shop: Shop, host: ShopHost): Promise<void> {
  await host.startPage(input());
}

const callback =
  (index = 0) =>
  (shop: Shop, host: ShopHost): Promise<Payment> =>
    host.receiveCallback(made(shop, index));

const reconcile = (_shop: Shop, host: ShopHost): Promise<void> => host.reconcile();

const abandon = (shop: Shop, host: ShopHost): Promise<Payment> => host.payments.abandon(made(shop));

const refund = (amount?: string, idempotencyKey?: string) => (shop: Shop, host: ShopHost) =>
  host.payments.refund({ conversationId: made(shop), amount, idempotencyKey });

const voidSale = (shop: Shop, host: ShopHost) => host.payments.void({ conversationId: made(shop) });

const payAtPage = {
  what: 'pays at the page',
  does: (shop: Shop): void => shop.gateway.payAtPage(made(shop)),
};

/** Two orders, each at a host of its own. */
const TWO_ORDERS = [pay(), pay({ reference: OTHER_ORDER })];

/** Handlers hear of the first order before the second is paid. */
async function payOneAfterTheOther(shop: Shop, host: ShopHost): Promise<Payment> {
  await pay()(shop, host);
  await host.reconcile();
  return pay({ reference: OTHER_ORDER })(shop, host);
}

async function prepareTwoPaid(shop: Shop, host: ShopHost): Promise<void> {
  for (const act of TWO_ORDERS) await act(shop, host);
}

async function prepareTwoPages(_shop: Shop, host: ShopHost): Promise<void> {
  await host.startPage(input());
  await host.startPage(input({ reference: OTHER_ORDER }));
}

const refundOf = (index: number) => (shop: Shop, host: ShopHost) =>
  host.payments.refund({ conversationId: made(shop, index), amount: '100.00' });

const abandonOf = (index: number) => (shop: Shop, host: ShopHost) => host.payments.abandon(made(shop, index));

const CALLBACKS = { prepare: prepare3d, acts: [callback()], isPaid: true };

const TWO_CALLBACKS = { prepare: prepare3d, acts: [callback(), callback()] };

type Row = Omit<CountedScript, 'hosts' | 'faults'> & Partial<CountedScript>;

/** With two hosts, unless a row says otherwise. */
function scripts(faults: number, rows: readonly Row[]): CountedScript[] {
  return rows.map((row) => ({ hosts: 2, faults, ...row }));
}

/** What goes on while something is broken for good, most often without any other fault. */
const BESIDE_WHAT_IS_BROKEN = scripts(0, [
  { name: 'the mail is down', hosts: 1, acts: [payOneAfterTheOther], breaks: MAIL_IS_DOWN, schedules: 7 },
  {
    name: 'a handler refuses one order',
    hosts: 1,
    acts: [payOneAfterTheOther],
    breaks: HANDLER_REFUSES_ONE,
    schedules: 7,
  },
  { name: 'one order is not answered', acts: TWO_ORDERS, breaks: ONE_IS_NOT_ANSWERED, schedules: 125 },
  {
    name: 'one refund is not answered',
    prepare: prepareTwoPaid,
    acts: [refundOf(0), refundOf(1)],
    breaks: ONE_IS_NOT_ANSWERED,
    schedules: 125,
  },
  {
    name: 'one page is not answered',
    prepare: prepareTwoPages,
    acts: [abandonOf(0), abandonOf(1)],
    breaks: ONE_IS_NOT_ANSWERED,
    schedules: 26,
  },
  { name: 'a host without the store', ...TWO_CALLBACKS, isPaid: true, breaks: A_HAS_NO_STORE, schedules: 79 },
  { name: 'a host without the gateway', ...TWO_CALLBACKS, breaks: A_HAS_NO_GATEWAY, schedules: 33 },
]);

export const SCRIPTS = scripts(1, [
  { name: 'callbacks', ...CALLBACKS, schedules: 76 },
  { name: 'callbacks, reads too', ...CALLBACKS, steps: /^find/, schedules: 415 },
  { name: 'callbacks, late writes', ...CALLBACKS, lateWrites: true, schedules: 190 },
  { name: 'one key twice', acts: [pay({ idempotencyKey: KEY })], schedules: 74 },
  { name: 'one key twice, late writes', acts: [pay({ idempotencyKey: KEY })], lateWrites: true, schedules: 190 },
  { name: 'two clicks on an order', acts: [pay()], schedules: 74 },
  {
    name: 'two tabs of an order',
    prepare: prepareTwoTabs,
    acts: [callback(0), callback(1)],
    isPaid: true,
    schedules: 306,
  },
  { name: 'a callback beside a click', prepare: prepare3d, acts: [callback(), pay()], schedules: 220 },
  { name: 'a callback beside the background', prepare: prepare3d, acts: [callback(), reconcile], schedules: 14 },
  { name: 'two starts at the bank', acts: [(_, host) => host.start3d(input())], schedules: 233 },
  { name: 'two refunds', prepare: preparePaid, acts: [refund('100.00')], schedules: 81 },
  { name: 'a refund twice', prepare: preparePaid, acts: [refund('100.00', KEY)], schedules: 74 },
  { name: 'a refund beside a void', prepare: preparePaid, acts: [refund('100.00'), voidSale], schedules: 162 },
  { name: 'two starts at a page', acts: [(_, host) => host.startPage(input())], schedules: 70 },
  { name: 'a page, paid and given up', prepare: preparePage, acts: [abandon], buyer: payAtPage, schedules: 369 },
  {
    name: 'a page, given up and paid late',
    prepare: preparePage,
    acts: [abandon, pay()],
    late: payAtPage.does,
    schedules: 71,
  },
  {
    name: 'a page whose buyer comes back',
    prepare: preparePage,
    acts: [(shop, host) => host.returnFromPage(made(shop)), reconcile],
    buyer: payAtPage,
    schedules: 136,
  },
  {
    name: 'handlers',
    prepare: preparePaid,
    acts: [reconcile],
    handlersToo: true,
    steps: /^acknowledge$/,
    schedules: 62,
  },
  {
    name: 'a purge beside a refund',
    prepare: prepareOld,
    acts: [reconcile, refund('100.00')],
    retentionMs: DAY_MS,
    steps: /^(purge|findRefunds)$/,
    schedules: 94,
  },
  ...BESIDE_WHAT_IS_BROKEN,
]);

export function scenarioOf(script: Script): Scenario {
  const { name, faults } = script;
  return { name, faults, ending: ENDING, begin: () => Shop.begin(script) };
}

import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { PaymentService } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { CallbackRoute } from '../../lib/options/payment-options.js';
import { AppModule } from '../../sample/src/app.module.js';
import { configureShop } from '../../sample/src/configure-shop.js';
import { DemoGateway } from '../../sample/src/demo/demo-gateway.js';
import { OrderRepository } from '../../sample/src/orders/order.repository.js';
import { makeScratchFolder, type ScratchFolder } from '../rigs/scratch-folder.js';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { freePort } from '../services/server.js';

type Texts = Readonly<Record<string, string>>;

/** The sample shop, open in this process with a simulated gateway. */
export interface Shop {
  readonly url: string;
  readonly simulator: Simulator;
  readonly payments: PaymentService;
  readonly orders: OrderRepository;
  /** Without a browser, as the next ones. Redirects are not followed. */
  get(path: string, headers?: Texts): Promise<Response>;
  /** Sends a form. */
  post(path: string, fields?: Texts | string, headers?: Texts): Promise<Response>;
  postJson(path: string, body: object, headers?: Texts): Promise<Response>;
  /** Orders a coffee cup, for 420.00. @returns the order's number */
  order(headers?: Texts): Promise<string>;
  /** Closes it and opens it again on the same data, as a new deployment would. */
  restart(): Promise<Shop>;
  close(): Promise<void>;
}

/** The fields of the shop's card form. */
export const CARD_FORM = {
  number: '4508034508034509',
  expiry: '12/36',
  cvv: '000',
  holder: 'ADA YILMAZ',
  phone: '05551112233',
};

/** What is posted to the shop's API, as a person types it. */
export const CHECKOUT = {
  cardDetails: { cardNo: '4508 0345 0803 4509', expDate: CARD_FORM.expiry, cvv: CARD_FORM.cvv },
  cardHolderInfo: { cardHolderName: CARD_FORM.holder, buyerGsm: CARD_FORM.phone },
};

/** All visitors of a test have one address. */
const NO_LIMITS = { SHOP_ATTEMPTS_PER_VISITOR: '1000' };

/**
 * A shop for the tests of this `describe`.
 *
 * @param variables `PAYMENT_*`, `SHOP_*`
 * @param isLive whether its gateway counts as a real one; otherwise the shop starts a simulator itself
 */
export function useShop(variables: Texts = {}, isLive = false): Shop {
  const used = {} as Shop;
  beforeAll(async () => {
    const gateway = isLive ? await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true }) : undefined;
    Object.assign(used, await openShop(makeScratchFolder('shop'), variables, gateway));
  }, 60_000);
  afterAll(async () => {
    await used.close();
    if (isLive) await used.simulator.close();
  });
  return used;
}

async function openShop(data: ScratchFolder, variables: Texts, gateway?: Simulator): Promise<Shop> {
  // A developer's .env must not send the tests to a real gateway.
  forgetVariables();
  const port = await freePort();
  const settings = gateway && { ...variablesOf(gateway), PAYMENT_PUBLIC_URL: `http://localhost:${port}` };
  Object.assign(process.env, NO_LIMITS, settings, variables, { SHOP_DATA: data.path, PORT: String(port) });

  const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['error'] });
  configureShop(app);
  // The buyer waits for all of it where the gateway has nothing to say, as after Cancel. The shop's own 5 s are for
  // people; less than the 2 s between two inquiries would miss a card that pays right after one that was declined.
  Object.assign(app.get(CallbackRoute), { waitMs: 3_000 });
  await app.listen(port, 'localhost');
  const simulator = app.get(DemoGateway).simulator ?? gateway;
  if (!simulator) throw new Error('The shop has started without its simulator');
  const url = `http://localhost:${port}`;
  return {
    url,
    simulator,
    payments: app.get(PaymentService),
    orders: app.get(OrderRepository),
    ...requestsTo(url),
    restart: async () => {
      await app.close();
      return openShop(data, variables, gateway);
    },
    close: async () => {
      await app.close();
      forgetVariables();
      data.remove();
    },
  };
}

function requestsTo(url: string): Pick<Shop, 'get' | 'post' | 'postJson' | 'order'> {
  const send = (path: string, headers: Texts, more: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { redirect: 'manual', headers, ...more });
  const post: Shop['post'] = (path, fields = {}, headers = {}) =>
    send(path, headers, { method: 'POST', body: new URLSearchParams(fields) });
  return {
    get: (path, headers = {}) => send(path, headers),
    post,
    postJson: (path, body, headers) =>
      send(path, { 'content-type': 'application/json', ...headers }, { method: 'POST', body: JSON.stringify(body) }),
    order: async (headers) => {
      const placed = await post('/orders', {}, { cookie: 'basket=cup.1', ...headers });
      return placed.headers.get('location')?.split('/')[2] ?? '';
    },
  };
}

/** SHOP_PICTURE is for the tests. */
function forgetVariables(): void {
  for (const name of Object.keys(process.env)) if (/^(PAYMENT|SHOP)_(?!PICTURE$)/.test(name)) delete process.env[name];
}

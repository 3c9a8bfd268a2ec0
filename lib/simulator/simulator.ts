import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { BuyerServer } from './buyer-server.js';
import { type FaultHandle, type FaultOptions, FaultQueue, type RecordedRequest } from './faults.js';
import { GatewayServer } from './gateway-server.js';
import { Ledger, type SimulatorLedger } from './ledger.js';
import { Gateway } from './operations.js';
import {
  settingsOf,
  SIMULATED_DIALECTS,
  type SimulatorCredentials,
  type SimulatorDialect,
  type SimulatorOptions,
} from './simulator-options.js';
import { currentTestCards, MAGIC_AMOUNTS, MAGIC_PASSWORDS, MAGIC_REFUNDS, SMS_CODE } from './test-data.js';
import { Bank, type BankCallback, type HostedCallback, HostedPages, type PayAtPageOptions, Visits } from './visits.js';

/** A running gateway with its bank. */
export interface Simulator {
  /** The base URL as this machine reaches it, without a slash at its end. */
  readonly url: string;
  /** Where a browser reaches the bank's pages and the gateway's own, without a slash at its end. */
  readonly publicUrl: string;
  readonly port: number;
  readonly dialect: SimulatorDialect;
  readonly credentials: SimulatorCredentials;
  readonly ledger: SimulatorLedger;
  /** The requests that reached the gateway (not the pages that browsers see), oldest first. They hold the cards. */
  readonly requests: readonly RecordedRequest[];
  readonly bank: Pick<Bank, 'answer'>;
  /** Queues a fault for the next request of an operation. */
  fail(options: FaultOptions): FaultHandle;
  /** The buyer types the right SMS code: the same as `bank.answer(…, { code: '123456' })`. */
  approve(conversationIdOrPage: string): BankCallback;
  /**
   * The buyer types a card at the gateway's own page, or at its embedded form. Nothing is sent: the callback is what
   * the browser would bring to the merchant. A declined card does not end the page; once a buyer was charged, later
   * calls get the callback of that charge.
   *
   * @param conversationIdOrUrl the payment, the page's address, or the form's content
   * @throws Error when there is no such page, it can no longer be paid, or it does not take what was typed
   * @experimental
   */
  payAtPage(conversationIdOrUrl: string, options?: PayAtPageOptions): HostedCallback;
  /**
   * The buyer goes back to failUrl. The page stays open: it can be entered again and be paid.
   *
   * @experimental
   */
  cancelAtPage(conversationIdOrUrl: string): HostedCallback;
  /**
   * The gateway closes the page: it can no longer be paid.
   *
   * @experimental
   */
  closePage(conversationIdOrUrl: string): void;
  /** Forgets payments, pages, requests and faults. Stalled requests are released. */
  reset(): void;
  /** Cuts every connection and stops. */
  close(): Promise<void>;
}

/**
 * Starts a gateway to test against: it checks every request strictly, keeps a ledger, shows a bank page, and fails on
 * demand. Cards stay in its memory. For tests and development only.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', dialect = 'standard', tls, keepsProcessAlive = false } = options;
  const server: Server = tls ? createHttpsServer(tls) : createHttpServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const url = `${tls ? 'https' : 'http'}://${hostOfUrl(host)}:${address.port}`;
  const publicUrl = (options.publicUrl ?? url).replace(/(?<!\/)\/+$/, '');
  if (!keepsProcessAlive) {
    server.unref();
    server.on('connection', (socket) => socket.unref());
  }

  const settings = settingsOf(options, publicUrl);
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  const ledger = new Ledger();
  const faults = new FaultQueue();
  const visits = new Visits(settings);
  const bank = new Bank(settings, visits);
  const pages = new HostedPages(settings, visits, ledger);
  const gateway = new Gateway(settings, ledger, visits);
  const gatewayServer = new GatewayServer(gateway, faults);
  const buyerServer = new BuyerServer(settings, visits, bank, pages);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const responsible = buyerServer.isFor(request.url ?? '/') ? buyerServer : gatewayServer;
    responsible.serve(request, response).catch(() => response.destroy());
  });

  return {
    url,
    publicUrl,
    port: address.port,
    dialect,
    credentials: settings.credentials,
    ledger,
    requests: gatewayServer.requests,
    bank,
    fail: (fault) => faults.add(fault),
    approve: (conversationIdOrPage) => bank.answer(conversationIdOrPage, { code: SMS_CODE }),
    payAtPage: (conversationIdOrUrl, payment) => pages.payAtPage(conversationIdOrUrl, payment),
    cancelAtPage: (conversationIdOrUrl) => pages.cancelAtPage(conversationIdOrUrl),
    closePage: (conversationIdOrUrl) => pages.closePage(conversationIdOrUrl),
    reset: () => {
      faults.reset();
      ledger.reset();
      visits.reset();
      gatewayServer.requests.length = 0;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The host in a URL: the loopback address for a server that listens on every address. */
function hostOfUrl(host: string): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return reached.includes(':') ? `[${reached}]` : reached;
}

/**
 * The address, settings to paste into `.env`, test cards that have not expired, amounts and 3D passwords: for
 * developers.
 */
export function describeSimulator(simulator: Simulator, now = new Date()): string {
  const { url, publicUrl, dialect, credentials } = simulator;
  // The first lines are comments, in case all of this is written to an .env file: Node.js would read them as a name.
  return `# Simulated gateway (${dialect}) on ${url}${publicUrl === url ? '' : `, its bank's pages at ${publicUrl}`}
# PAYMENT_PUBLIC_URL is where your application answers.

PAYMENT_BASE_URL=${url}
PAYMENT_DIALECT=${dialect}
PAYMENT_MERCHANT_ID=${credentials.merchantId}
PAYMENT_CLIENT_ID=${credentials.clientId}
PAYMENT_CLIENT_SECRET=${credentials.clientSecret}
PAYMENT_API_KEY=${credentials.apiKey}
PAYMENT_PUBLIC_URL=http://localhost:3000

Test cards (number, expiry MMyy, cvv): approved, unless the amount says otherwise
${rows(currentTestCards(now).map(({ cardNo, expDate, cvv }) => [cardNo, expDate, cvv]))}

Amounts that end in
${rows(MAGIC_AMOUNTS.map(({ digits, code, pace, meaning }) => [`.${digits}`, pace === 'never' ? '' : code, meaning]))}
${refundTable(dialect)}
3D passwords on the bank's page
${rows(MAGIC_PASSWORDS.map(({ code, meaning }) => [code, meaning]))}
`;
}

function refundTable(dialect: SimulatorDialect): string {
  if (!SIMULATED_DIALECTS[dialect].operations.includes('refund')) return '';
  return `
Refunds of amounts that end in (a void: a sale that ends in)
${rows(MAGIC_REFUNDS.map(({ digits, code, pace, meaning }) => [`.${digits}`, pace === 'never' ? '' : code, meaning]))}
`;
}

function rows(cells: string[][]): string {
  const widths = cells[0]?.map((_cell, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

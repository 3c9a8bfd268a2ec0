import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Bank, type BankCallback } from './bank.js';
import { BankServer } from './bank-server.js';
import { SIMULATOR_CREDENTIALS, type SimulatorCredentials } from './credentials.js';
import { SIMULATED_DIALECTS, type SimulatorDialect } from './dialects/dialects.js';
import { FaultQueue, type FaultHandle, type FaultOptions } from './faults.js';
import { Gateway } from './gateway.js';
import { GatewayServer } from './gateway-server.js';
import { Ledger, type SimulatorLedger } from './ledger.js';
import { SMS_CODE } from './magic.js';
import type { RecordedRequest } from './recorded-request.js';
import type { SimulatorOptions, SimulatorSettings } from './simulator-options.js';

/** A running gateway with its bank. */
export interface Simulator {
  /** The base URL as this machine reaches it, without a slash at its end. */
  readonly url: string;
  /** Where a browser reaches the bank's pages, without a slash at its end. */
  readonly publicUrl: string;
  readonly port: number;
  readonly dialect: SimulatorDialect;
  readonly credentials: SimulatorCredentials;
  readonly ledger: SimulatorLedger;
  /** The requests that reached the gateway (not the bank's pages), oldest first, cards and all. */
  readonly requests: readonly RecordedRequest[];
  readonly bank: Pick<Bank, 'answer'>;
  /** Queues a fault for the next request of an operation. */
  fail(options: FaultOptions): FaultHandle;
  /** The buyer types the right SMS code: short for `bank.answer(…, { code: '123456' })`. */
  approve(conversationIdOrPage: string): BankCallback;
  /** Forgets payments, requests and faults. Stalled requests go on. */
  reset(): void;
  /** Cuts every connection and stops. */
  close(): Promise<void>;
}

/**
 * Starts a gateway to test against: it checks every request strictly, keeps a ledger, shows a bank page, and fails on
 * demand. Cards stay in its memory. For tests and development only.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', dialect = 'standard', tls } = options;
  const { keepsProcessAlive = false } = options;
  const server: Server = tls ? createHttpsServer(tls) : createHttpServer();
  server.keepAliveTimeout = options.keepAliveTimeoutMs ?? 5000;
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

  const settings = withDefaults(options, {
    dialect: SIMULATED_DIALECTS[dialect],
    host,
    port: address.port,
    publicUrl,
  });
  const ledger = new Ledger();
  const faults = new FaultQueue();
  const bank = new Bank(settings);
  const gateway = new Gateway(settings, ledger, bank);
  const gatewayServer = new GatewayServer(settings, gateway, ledger, faults);
  const bankServer = new BankServer(settings, bank);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url?.startsWith('/acs/') ? bankServer : gatewayServer;
    target.serve(request, response).catch(() => response.destroy());
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
    reset: () => {
      faults.reset();
      ledger.reset();
      bank.reset();
      gateway.reset();
      gatewayServer.requests.length = 0;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The host in a URL. A server that listens on every address is reached at the loopback one. */
function hostOfUrl(host: string): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return reached.includes(':') ? `[${reached}]` : reached;
}

function withDefaults(
  options: SimulatorOptions,
  resolved: Pick<SimulatorSettings, 'dialect' | 'host' | 'port' | 'publicUrl'>,
): SimulatorSettings {
  return {
    ...resolved,
    credentials: { ...SIMULATOR_CREDENTIALS, ...options.credentials },
    merchantName: options.merchantName ?? 'Demo Mağaza',
    checkSign: options.checkSign ?? (() => true),
    luhn: options.luhn ?? true,
    clock: options.clock ?? (() => new Date()),
    timestampToleranceMs: options.timestampToleranceMs ?? 5 * 60 * 1000,
    bankDelayMs: options.bankDelayMs ?? 0,
    lateCallbackMs: options.lateCallbackMs ?? 10_000,
    slowMs: options.slowMs ?? 3000,
    callback: { method: 'form', instrumentDetail: 'dotted', names: 'documented', ...options.callback },
    contentField: options.contentField ?? 'htmlForm',
    carelessAuth3d: options.carelessAuth3d ?? 'no',
    inquiryAnswer: options.inquiryAnswer ?? 'full',
    keepAliveTimeoutMs: options.keepAliveTimeoutMs ?? 5000,
    requestLimit: options.requestLimit ?? 10_000,
  };
}

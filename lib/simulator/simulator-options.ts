import type { TlsOptions } from 'node:tls';
import { MORPOS, type SimulatedDialect, STANDARD } from './dialects.js';

/** The dialects that the simulator speaks: MorPOS as public sources show it, and the interface alone. */
export const SIMULATED_DIALECTS = { morpos: MORPOS, standard: STANDARD };

export type SimulatorDialect = keyof typeof SIMULATED_DIALECTS;

export function isSimulatorDialect(name: string): name is SimulatorDialect {
  return Object.hasOwn(SIMULATED_DIALECTS, name);
}

/** The merchant's credentials at the simulator. */
export interface SimulatorCredentials {
  readonly merchantId: string;
  readonly clientId: string;
  /** Base64, since the morpos dialect hashes the decoded bytes. */
  readonly clientSecret: string;
  readonly apiKey: string;
}

/** The default credentials of a simulator. They are public and protect nothing. */
export const SIMULATOR_CREDENTIALS: SimulatorCredentials = {
  merchantId: '100200300',
  clientId: 'simulator-client',
  clientSecret: 'c2ltdWxhdG9yLWNsaWVudC1zZWNyZXQ=',
  apiKey: 'simulator-api-key',
};

export interface SimulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** The address to listen on; `0.0.0.0` is every address of the machine. Default `127.0.0.1`. */
  readonly host?: string;
  /**
   * Where browsers reach the bank's pages and the gateway's own, such as `http://192.168.1.5:4010`. Default: the
   * simulator's own address.
   */
  readonly publicUrl?: string;
  /** Whether the simulator keeps the process alive, as a command wants and a test does not. Default false. */
  readonly keepsProcessAlive?: boolean;
  /** With this, such as `{ key, cert }` in PEM, it serves https. */
  readonly tls?: TlsOptions;
  /** Default `standard`. */
  readonly dialect?: SimulatorDialect;
  /** Default: {@link SIMULATOR_CREDENTIALS}. */
  readonly credentials?: Partial<SimulatorCredentials>;
  /** The name on the bank's page and on the gateway's own. */
  readonly merchantName?: string;
  /** Whether card numbers must pass Luhn. Default true. */
  readonly luhn?: boolean;
  readonly clock?: () => Date;
  /** How far x-Timestamp may be from the clock. Default 5 minutes. */
  readonly timestampToleranceMs?: number;
  /** How long a slow bank takes: with amounts xx.61, and the late callback of 3D password 333333. Default 3 seconds. */
  readonly slowMs?: number;
  /**
   * Whether CheckPayment finds a refund or void by its own conversationId. Default false: unverified, no public source
   * says that it does.
   */
  readonly inquiryKnowsRefunds?: boolean;
  /**
   * The fee of paying with a credit card in so many instalments, in percent as decimal text: `{ 3: '2.5' }`. CheckBin
   * tells the total if it is asked with an amount, and DoPayment and Auth3d charge it. Default: no fee. Whether and how
   * the real gateway adds one is unverified.
   */
  readonly installmentRates?: Readonly<Record<number, string>>;
  /** How long an idle connection stays open, as announced in `Keep-Alive: timeout=`. Default 5 seconds. */
  readonly keepAliveTimeoutMs?: number;
  /** How many requests are remembered. Default 10000. */
  readonly requestLimit?: number;
}

/** The options with their defaults, except those of the server itself. */
export type SimulatorSettings = Required<
  Omit<SimulatorOptions, 'port' | 'host' | 'tls' | 'credentials' | 'dialect' | 'keepsProcessAlive'>
> & {
  readonly dialect: SimulatedDialect;
  readonly credentials: SimulatorCredentials;
};

export function settingsOf(options: SimulatorOptions, publicUrl: string): SimulatorSettings {
  return {
    publicUrl,
    dialect: SIMULATED_DIALECTS[options.dialect ?? 'standard'],
    credentials: { ...SIMULATOR_CREDENTIALS, ...options.credentials },
    merchantName: options.merchantName ?? 'Demo Mağaza',
    luhn: options.luhn ?? true,
    clock: options.clock ?? (() => new Date()),
    timestampToleranceMs: options.timestampToleranceMs ?? 5 * 60 * 1000,
    slowMs: options.slowMs ?? 3000,
    inquiryKnowsRefunds: options.inquiryKnowsRefunds ?? false,
    installmentRates: options.installmentRates ?? {},
    keepAliveTimeoutMs: options.keepAliveTimeoutMs ?? 5000,
    requestLimit: options.requestLimit ?? 10_000,
  };
}

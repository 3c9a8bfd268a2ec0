import type { SimulatorCredentials } from './credentials.js';
import type { SimulatorDialect } from './dialects/dialects.js';
import type { SignCheck, SimulatedDialect } from './dialects/simulated-dialect.js';

/** How the bank hands its result to the merchant's URL. The contract does not show it. */
export interface SimulatorCallback {
  /** A form that the browser posts, a redirect with a query, or JSON that the bank itself posts. Default `form`. */
  readonly method?: 'form' | 'get' | 'json';
  /** `InstrumentDetail.MaskedCardNumber`, `InstrumentDetail[MaskedCardNumber]` or one JSON text. Default `dotted`. */
  readonly instrumentDetail?: 'dotted' | 'bracket' | 'json';
  /**
   * The fields' names: those of the documentation, or those that the vendor's hosted page sends, with `InstrumentDetail`
   * as the text `[object Object]`. Default `documented`.
   */
  readonly names?: 'documented' | 'hosted';
}

/** How much an answer to CheckPayment says. */
export type InquiryAnswer = 'full' | 'code' | 'text' | 'status' | 'id' | 'amount';

export interface SimulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Where it listens: `0.0.0.0` on every address of the machine. Default `127.0.0.1`. */
  readonly host?: string;
  /** Where the buyer's browser reaches the bank's pages, if not at the simulator's own: `http://192.168.1.5:4010`. */
  readonly publicUrl?: string;
  /** Whether the process stays for the simulator's sake, as a command wants and a test does not. Default false. */
  readonly keepsProcessAlive?: boolean;
  /** Serves https; with `ca` and `requestCert` it asks for a client certificate. PEM. */
  readonly tls?: {
    readonly key: string | Buffer;
    readonly cert: string | Buffer;
    readonly ca?: string | Buffer;
    readonly requestCert?: boolean;
    readonly rejectUnauthorized?: boolean;
  };
  /** Default `standard`. */
  readonly dialect?: SimulatorDialect;
  /** Default: {@link SIMULATOR_CREDENTIALS}. */
  readonly credentials?: Partial<SimulatorCredentials>;
  /** The name on the bank's page. */
  readonly merchantName?: string;
  /**
   * Whether the `sign` of a `standard` request is good; by default any that is not empty. The contract does not show
   * how it is made. The `morpos` dialect checks its own.
   */
  readonly checkSign?: SignCheck;
  /** Whether card numbers must pass Luhn. Default true. */
  readonly luhn?: boolean;
  readonly clock?: () => Date;
  /** How far x-Timestamp may be from the clock. Default 5 minutes. */
  readonly timestampToleranceMs?: number;
  /** How long the bank takes from the buyer's answer to the callback. Default 0. */
  readonly bankDelayMs?: number;
  /** How long the late callback of the 3D password 333333 takes. Default 10 seconds. */
  readonly lateCallbackMs?: number;
  /** How long the slow bank of the amounts xx.61 takes. Default 3 seconds. */
  readonly slowMs?: number;
  readonly callback?: SimulatorCallback;
  /** The field of Init3d's reply with the Base64 page. Default `htmlForm`; unverified, the contract shows no name. */
  readonly contentField?: string;
  /**
   * Makes Auth3d careless: it finds the payment by the callback's `PaymentId`, whatever else is sent, and answers with the
   * code alone (`bare`), or with the code and the conversationId that it was sent (`echo`). Default `no`.
   */
  readonly carelessAuth3d?: 'no' | 'bare' | 'echo';
  /**
   * What CheckPayment says of a payment that it knows: everything (`full`), or the code and one thing more: nothing
   * (`code`), its text, `transactionStatus`, the conversationId, or the amount. Default `full`. What an answer really
   * holds is unverified.
   */
  readonly inquiryAnswer?: InquiryAnswer;
  /** How long an idle connection stays open, as announced in `Keep-Alive: timeout=`. Default 5 seconds. */
  readonly keepAliveTimeoutMs?: number;
  /** How many requests are remembered. Default 10000. */
  readonly requestLimit?: number;
}

/** The options with their defaults, and the address that is known once the simulator listens. */
export type SimulatorSettings = Required<
  Omit<SimulatorOptions, 'tls' | 'credentials' | 'callback' | 'dialect' | 'keepsProcessAlive'>
> & {
  readonly dialect: SimulatedDialect;
  readonly credentials: SimulatorCredentials;
  readonly callback: Required<SimulatorCallback>;
};

import type { Dispatcher } from 'undici';
import type { DialectName } from '../gateway/dialects/dialects.js';
import type { GatewayDialect, Signer } from '../gateway/gateway-dialect.js';
import type { AmountCheck } from '../gateway/readings/charge-reading.js';
import type { Payment } from '../payment/payment.js';
import type { PaymentStore } from '../store/payment-store.js';

/** Where a buyer is sent after the callback: an address, or in code a function of the payment. */
export type ResultUrl = string | ((payment: Payment) => string);

/**
 * What can be set in code or, where a variable is named, in the environment. An option that is given wins; one that is absent is read from the
 * environment when the module starts. For a `name`d account the variables begin with `PAYMENT_<NAME>_`.
 */
export interface PaymentOptions {
  /** `PAYMENT_BASE_URL`. The service's base address; https, except to a loopback address. Required. */
  baseUrl?: string;
  /** `PAYMENT_MERCHANT_ID`. Required. */
  merchantId?: string;
  /** `PAYMENT_CLIENT_ID`: the header x-ClientID (contract section 5). Required. */
  clientId?: string;
  /** `PAYMENT_CLIENT_SECRET`. Required. */
  clientSecret?: string;
  /** `PAYMENT_API_KEY`: what requests are signed with. Required by the dialect `morpos`. */
  apiKey?: string;
  /** `PAYMENT_DIALECT`: `standard` (default) or `morpos`; in code also a dialect of one's own. */
  dialect?: DialectName | GatewayDialect;
  /** Code only. How `sign` is computed; required by `standard`, since the contract does not show it. */
  signer?: Signer;
  /** `PAYMENT_SCOPE`: the header x-Scope. Default `pf_write`. */
  scope?: string;
  /** `PAYMENT_GRANT_TYPE`: the header x-GrantType. Default `client_credentials`. */
  grantType?: string;
  /** `PAYMENT_LANGUAGE`. Default `tr`. */
  language?: string;
  /** `PAYMENT_TIMEOUT_MS`: one deadline for queue, connect and answer. Default 60000. */
  timeoutMs?: number;
  /** `PAYMENT_CONNECT_TIMEOUT_MS`. Default 10000. */
  connectTimeoutMs?: number;
  /** `PAYMENT_KEEP_ALIVE_MS`: how long an idle connection is kept; less where the gateway announces less; 0 uses each once. Default 4000. */
  keepAliveMs?: number;
  /** `PAYMENT_PUBLIC_URL`: where buyers reach this application. Required while `callback` is on, unless `callbackUrl` is set; https, except loopback. */
  publicUrl?: string;
  /** `PAYMENT_CALLBACK_URL`: where the callback controller is reached, where that is not publicUrl + global prefix + path. */
  callbackUrl?: string;
  /** `PAYMENT_RETURN_URL`: own address for the bank's success; may hold `{token}`. Default the callback's. */
  returnUrl?: string;
  /** `PAYMENT_FAIL_URL`: own address for the bank's failure; may hold `{token}`. Default the callback's. */
  failUrl?: string;
  /** `PAYMENT_SUCCESS_URL`: where the buyer goes when it is paid. Default a plain built-in page. */
  successUrl?: ResultUrl;
  /** `PAYMENT_FAILURE_URL`: where the buyer goes when it is not paid. Default a plain built-in page. */
  failureUrl?: ResultUrl;
  /** `PAYMENT_PENDING_URL`: where the buyer goes while the outcome is not known. Default a plain built-in page. */
  pendingUrl?: ResultUrl;
  /** `PAYMENT_SESSION_TTL_MS`: a 3D payment that nobody answered expires after this. Default 3600000. */
  sessionTtlMs?: number;
  /** `PAYMENT_STORE_URL`: `memory:` (default), `sqlite:FILE`, `postgres://…`, `redis://…`. */
  storeUrl?: string;
  /** Code only. A store of one's own, or one that is made already. */
  store?: PaymentStore;
  /** `PAYMENT_RETENTION_MS`: settled payments are deleted this long after they were settled; 0 keeps them. Default 0, in memory one day. */
  retentionMs?: number;
  /** `PAYMENT_BACKGROUND`: whether this instance reconciles and delivers events. Default true. */
  background?: boolean;
  /** `PAYMENT_AMOUNT_FORMAT`: `fixed` (default) writes 60.00, `shortest` writes 60. */
  amountFormat?: 'fixed' | 'shortest';
  /** `PAYMENT_DATE_ORDER`: which of the first two parts of a gateway's date is the day. Default `dmy` (inferred, unverified). */
  dateOrder?: 'dmy' | 'mdy';
  /** `PAYMENT_LUHN`: whether card numbers must pass the Luhn check. Default true. */
  luhn?: boolean;
  /** `PAYMENT_VERIFY_AMOUNT`: `notLess` (default: more is accepted with instalments only), `exact`, `off`. */
  verifyAmount?: AmountCheck;
  /** `PAYMENT_VERIFY_SIGN`: whether the sign of an approval must be good. Default false, as no public recipe is verified. */
  verifySign?: boolean;
  /** Code only. Asked once the bank's callback has come, before money can move; false or a throw ends the payment `failed`, `vetoed`. */
  beforeAuth3d?: (payment: Payment) => boolean | Promise<boolean>;
  /** Code only. An undici dispatcher (proxy, mTLS, private CA). The module does not close it. */
  dispatcher?: Dispatcher;
}

/** The built-in callback controller. */
export interface CallbackStructure {
  /** Its path below the global prefix. Default `payments`, for a named account `payments/<name>`. */
  path?: string;
  /** Put on the controller, to mark it public for a host's guards for example. */
  decorators?: ClassDecorator[];
  /** How long a buyer waits for Auth3d before going to the pending page, in ms, 0 to 24 days. Default 25000. */
  waitMs?: number;
}

/** What shapes the module itself and so can only be given in code, at the top level of both `forRoot` and `forRootAsync`. */
export interface PaymentStructure {
  /** Whether `PaymentService` can be injected everywhere without importing the module again. Default true. */
  isGlobal?: boolean;
  /** False leaves the callback to a controller of one's own. */
  callback?: false | CallbackStructure;
  /** A further merchant account: reads `PAYMENT_<NAME>_*` alone, injected by `@InjectPayment(name)`. */
  name?: string;
}

/** A class that makes the options, for `forRootAsync({ useClass | useExisting })`. */
export interface PaymentOptionsFactory {
  createPaymentOptions(): PaymentOptions | Promise<PaymentOptions>;
}

import type { Dispatcher } from 'undici';
import { DIALECTS, type DialectName } from './dialects.js';
import type { GatewayDialect, Signer, AmountCheck } from '../gateway/gateway-dialect.js';
import type { AmountFormat } from '../payment/amount.js';
import type { Payment } from '../payment/payment.js';
import type { DateOrder } from '../payment/transaction-date.js';
import { isPaymentStore, type PaymentStore } from '../store/payment-store.js';
import { storeUrlProblem } from '../store/store-url.js';
import {
  choice,
  codeOnly,
  flag,
  type Option,
  orInCode,
  REQUIRED,
  resultUrl,
  type SetBy,
  text,
  texts,
  wholeNumber,
} from './option-kinds.js';
import { baseUrlProblem, callbackUrlProblem, gatewayUrlProblem, withoutTrailingSlashes } from './url-checks.js';

const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[];
/** More than a process can hold. */
const MAX_IN_FLIGHT = 1_000_000;
/** A hundred years. */
const MAX_RETENTION_MS = 3_155_760_000_000;

/**
 * Every option, in the order in which problems are reported. A new option is one row here, one in docs/configuration.md
 * and a case in `test/options/expected/settings.txt`: its types, its variable and its text in editors come from this
 * table.
 */
export const OPTIONS = {
  /** `PAYMENT_DIALECT`: `standard` or `morpos`; in code also a dialect of your own. Default `standard`. */
  dialect: orInCode(choice(DIALECT_NAMES, 'standard'), isDialectObject),
  /** Code only. Computes `sign`. Required by the dialect `standard`, since the interface does not show how. */
  signer: codeOnly<Signer>(isFunction, 'must be a function (fields, { operation, apiKey }) => string'),
  /**
   * `PAYMENT_BASE_URL`: the base address of the service; https, except to a loopback address. Or `simulator:`, a
   * gateway and a bank inside the application, for development and tests. It has a dialect and credentials of its own
   * and ignores `dialect`, `signer`, `merchantId`, `clientId`, `clientSecret`, `apiKey`, `scope`, `grantType`,
   * `dateOrder` and `dispatcher`; `publicUrl` is by default the address that the server listens on. Required.
   */
  baseUrl: text({ default: REQUIRED, check: gatewayUrlProblem, normalize: withoutTrailingSlashes }),
  /** `PAYMENT_MERCHANT_ID`. Required. */
  merchantId: text({ default: REQUIRED, check: headerProblem }),
  /** `PAYMENT_CLIENT_ID`: the header x-ClientID. Required. */
  clientId: text({ default: REQUIRED, check: headerProblem }),
  /** `PAYMENT_CLIENT_SECRET`. Required. */
  clientSecret: text({ default: REQUIRED, check: headerProblem }),
  /** `PAYMENT_API_KEY`: the key that requests are signed with. Required by the dialect `morpos`. */
  apiKey: text({ default: null }),
  /** `PAYMENT_SCOPE`: the header x-Scope. Default: the dialect's, `pf_write` or, for `morpos`, `pf_write pf_read`. */
  scope: text({ default: null, check: headerProblem }),
  /** `PAYMENT_GRANT_TYPE`: the header x-GrantType. Default `client_credentials`. */
  grantType: text({ default: 'client_credentials', check: headerProblem }),
  /** `PAYMENT_LANGUAGE`: the language of payments that do not name one. Default `tr`. */
  language: text({ default: 'tr' }),
  /**
   * `PAYMENT_TIMEOUT_MS`: the deadline of a request, for queueing, connecting and the answer. Default 60000 (1 min).
   */
  timeoutMs: wholeNumber({ default: 60_000, min: 1 }),
  /** `PAYMENT_CONNECT_TIMEOUT_MS`: how long connecting may take. Default 10000 (10 s). */
  connectTimeoutMs: wholeNumber({ default: 10_000, min: 1 }),
  /**
   * `PAYMENT_KEEP_ALIVE_MS`: how long an idle connection is kept, or less if the gateway announces less; 0 uses each
   * connection once. Default 4000 (4 s).
   */
  keepAliveMs: wholeNumber({ default: 4_000, min: 0 }),
  /**
   * `PAYMENT_PUBLIC_URL`: the address at which buyers reach this application; https, except on a loopback address.
   * Required while `callback` is on, unless `callbackUrl` is set or `baseUrl` is `simulator:`.
   */
  publicUrl: text({ default: null, check: baseUrlProblem, normalize: withoutTrailingSlashes }),
  /** `PAYMENT_CALLBACK_URL`: the address of the callback controller. Default: publicUrl + global prefix + path. */
  callbackUrl: text({ default: null, check: baseUrlProblem, normalize: withoutTrailingSlashes }),
  /**
   * `PAYMENT_RETURN_URL`: an address of yours that the bank uses after success; may hold `{token}`. Default: the
   * callback's.
   */
  returnUrl: text({ default: null, check: callbackUrlProblem }),
  /**
   * `PAYMENT_FAIL_URL`: an address of yours that the bank uses after a failure; may hold `{token}`. Default: the
   * callback's.
   */
  failUrl: text({ default: null, check: callbackUrlProblem }),
  /** `PAYMENT_SUCCESS_URL`: where the buyer goes after a payment that succeeded. Default: a plain built-in page. */
  successUrl: resultUrl(),
  /** `PAYMENT_FAILURE_URL`: where the buyer goes after a payment that failed. Default: a plain built-in page. */
  failureUrl: resultUrl(),
  /** `PAYMENT_PENDING_URL`: where the buyer goes while the outcome is not known. Default: a plain built-in page. */
  pendingUrl: resultUrl(),
  /** `PAYMENT_SESSION_TTL_MS`: how long a 3D payment waits for the buyer before it expires. Default 3600000 (1 h). */
  sessionTtlMs: wholeNumber({ default: 3_600_000, min: 1 }),
  /**
   * `PAYMENT_STORE_URL`: `memory:`, `sqlite:FILE`, `postgres://…`, `mysql://…` or `mariadb://…`. Required while
   * NODE_ENV is `production`. Default `memory:`.
   */
  storeUrl: text({ default: 'memory:', check: storeUrlProblem }),
  /**
   * Code only. A store that this package made: what `openSqlStore`, `sqlPaymentStore` or another function of
   * `nestjs-card-payment/sql` gave, or a `MemoryPaymentStore`.
   */
  store: codeOnly<PaymentStore>(
    isPaymentStore,
    'must be a store of this package: await openSqlStore(…), sqlPaymentStore(…), or new MemoryPaymentStore()',
  ),
  /**
   * `PAYMENT_RETENTION_MS`: payments are deleted this long after they were settled; 0 keeps them (in memory, for one
   * day). Default 0.
   */
  retentionMs: wholeNumber({ default: 0, min: 0, max: MAX_RETENTION_MS }),
  /**
   * `PAYMENT_IDEMPOTENCY_TTL_MS`: how long the idempotencyKey of a deleted payment is remembered, and its
   * conversationId if you chose it. Default 7776000000 (90 days).
   */
  idempotencyTtlMs: wholeNumber({ default: 7_776_000_000, min: 0, max: MAX_RETENTION_MS }),
  /** `PAYMENT_BACKGROUND`: whether this instance reconciles and delivers events. Default true. */
  background: flag(true),
  /**
   * `PAYMENT_MAX_IN_FLIGHT`: how many calls of `doPayment` and `init3d` may run at once in this process. Further calls
   * are refused (PaymentOverloadError), with nothing recorded and nothing sent. A callback is never refused. 0 sets
   * no limit. Default 256.
   */
  maxInFlight: wholeNumber({ default: 256, min: 0, max: MAX_IN_FLIGHT }),
  /**
   * `PAYMENT_BIN_TIMEOUT_MS`: the deadline of `checkBin`, whose answer a buyer waits for while typing. Default 2000
   * (2 s).
   *
   * @experimental
   */
  binTimeoutMs: wholeNumber({ default: 2_000, min: 1 }),
  /**
   * `PAYMENT_MAX_BIN_CHECKS`: how many BINs this process asks the gateway about at once. Further calls of `checkBin`
   * are refused (PaymentOverloadError). Payments do not count, and are not refused. Default 20.
   *
   * @experimental
   */
  maxBinChecks: wholeNumber({ default: 20, min: 1, max: MAX_IN_FLIGHT }),
  /** `PAYMENT_AMOUNT_FORMAT`: `fixed` writes 60.00, `shortest` writes 60. Default `fixed`. */
  amountFormat: choice<AmountFormat>(['fixed', 'shortest'], 'fixed'),
  /**
   * `PAYMENT_DATE_ORDER`: whether the day or the month comes first in the gateway's dates. Default `dmy` (unverified).
   */
  dateOrder: choice<DateOrder>(['dmy', 'mdy'], 'dmy'),
  /** `PAYMENT_LUHN`: whether card numbers must pass the Luhn check. Default true. */
  luhn: flag(true),
  /**
   * `PAYMENT_VERIFY_AMOUNT`: `notLess` (an approval may be for more than was asked, but only with instalments), `exact`
   * or `off`. With each of them, an approval by Auth3d must name the conversationId. Default `notLess`.
   */
  verifyAmount: choice<AmountCheck>(['notLess', 'exact', 'off'], 'notLess'),
  /**
   * `PAYMENT_VERIFY_SIGN`: whether the sign of an approval is verified. Default false, because it is not known for
   * certain how the gateway makes it.
   */
  verifySign: flag(false),
  /**
   * `PAYMENT_TRUST_UNBOUND`: whether an approval by Auth3d is believed if it does not name the payment (its
   * conversationId and amount). The callback's fields come from a browser, which may send another payment's: set this
   * only if the gateway is known to bind Auth3d to the payment. Default false.
   */
  trustUnbound: flag(false),
  /**
   * Code only. Called after the bank's callback and before money can move. If it returns false or throws, the payment
   * ends `failed`, `vetoed`.
   */
  beforeAuth3d: codeOnly<(payment: Payment) => boolean | Promise<boolean>>(isFunction, 'must be a function'),
  /**
   * `PAYMENT_FORMER_BASE_URLS`: addresses that this gateway had before, so that payments made there are still asked
   * about and refunded. In the variable they are separated by commas. Default: none.
   */
  formerBaseUrls: texts({ check: baseUrlProblem }),
  /** Code only. An undici dispatcher (proxy, mTLS, private CA). The module does not close it. */
  dispatcher: codeOnly<Dispatcher>(hasMethods('dispatch'), 'must be an undici Dispatcher'),
} satisfies Readonly<Record<string, Option<unknown, unknown>>>;

export type OptionName = keyof typeof OPTIONS;

/** The values of all options, given or by default. */
export type OptionValues = { readonly [Name in keyof typeof OPTIONS]: SetBy<(typeof OPTIONS)[Name]> };

/** Checks a value that is sent in a header. */
function headerProblem(value: string): string | null {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? null
    : 'must be printable ASCII without spaces around it';
}

/** `resolveSettings` checks that the object has all parts of a dialect. */
function isDialectObject(value: unknown): value is GatewayDialect {
  return typeof value === 'object' && value !== null;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function hasMethods(...methods: readonly string[]): (value: unknown) => boolean {
  return (value) => methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function');
}

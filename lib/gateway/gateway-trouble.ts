import { variableOf } from '../payment/account.js';
import type { PaymentClock } from '../runtime/clock.js';
import { type Thrown, thrownText } from '../payment/kept-text.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { type LogFields, LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import type { GatewayOperation, GatewaySettings } from './gateway-dialect.js';
import type { NoReply } from './transport/attempt.js';

/** "Invalid merchant" in the vendor's public list. */
const MERCHANT_CODE = 'B0003';
const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT|CRL|CA_|DEPTH_ZERO|HOSTNAME|PATH_LENGTH|SELF_SIGNED|UNABLE_TO)/;
const NAME_CODE = /^(?:ENOTFOUND|EAI_)/;

/** Which part of the host's own code failed, and what it threw. */
export interface HostFailure {
  readonly part: string;
  readonly thrown: Thrown;
}

/**
 * Logs, a few times a minute, that the gateway cannot be reached or refuses requests because of the merchant's
 * settings, and names the settings to check. Declined cards are not logged here.
 */
export class GatewayTrouble {
  private readonly logger = new PaymentLogger();
  private readonly limited: LimitedLog;
  private readonly host: string;
  /** Copies: once something was sent, nothing of a host's own dialect may throw here. */
  private readonly dialectName: string;
  private readonly validationPrefixes: readonly string[];

  constructor(
    private readonly account: string,
    { baseUrl, dialect }: Pick<GatewaySettings, 'baseUrl' | 'dialect'>,
    clock: PaymentClock,
  ) {
    this.limited = new LimitedLog(clock);
    this.host = new URL(baseUrl).host;
    this.dialectName = dialect.name;
    this.validationPrefixes = [...dialect.codes.declinedPrefixes];
  }

  /** The request could not be made: the dialect or the signer failed or took too long, or the claim ran out. */
  notMade(operation: GatewayOperation, why: string, by?: HostFailure): void {
    const what = by ? `${by.part} threw (${operation})${thrownText(by.thrown)}` : `${why} (${operation})`;
    const line = `Nothing was sent to the payment gateway: ${what}.`;
    this.error('notMade', line, { operation, cause: why, ...by?.thrown });
  }

  /** A part of the dialect threw while a reply was read. The reply therefore counts as unreadable. */
  notRead(operation: GatewayOperation, part: string, thrown: Thrown): void {
    const answer = `the gateway's answer to ${operation}, which counts as unreadable, in ${part}`;
    const line = `The dialect "${this.dialectName}" threw while it read ${answer}${thrownText(thrown)}.`;
    this.error('notRead', line, { operation, part, ...thrown });
  }

  /** There is no reply that can be read: nothing was sent, or it may have been sent and the reply is lost. */
  lost(operation: GatewayOperation, { sent, cause: why, errorCode }: NoReply): void {
    const cause = errorCode ?? why;
    const gateway = `payment gateway at ${this.host}`;
    const seen = `(${cause}, ${operation}).`;
    if (sent) {
      const timeout = operation === 'checkBin' ? 'binTimeoutMs' : 'timeoutMs';
      const advice = why === 'deadline' ? ` If it is only slow, raise ${this.named(timeout)}.` : '';
      return this.error('noAnswer', `The ${gateway} gave no readable answer ${seen}${advice}`, { operation, cause });
    }
    const unreached = `The ${gateway} cannot be reached; nothing was sent ${seen} ${this.connectionAdvice(errorCode)}`;
    const kept = `An interceptor of PAYMENT_HTTP kept a request to the ${gateway} from being sent ${seen}`;
    this.error('unreachable', why === 'interceptor_failed' ? kept : unreached, { operation, cause });
  }

  /** A reply is logged only if it refuses the request itself, not the card. An inquiry's code is about the payment. */
  replied(operation: GatewayOperation, status: number, code: string | null): void {
    const shown = operation === 'checkPayment' ? null : code;
    const advice = this.refusalAdvice(status, shown);
    if (advice === null) return;
    const said = [`HTTP ${status}`, shown, operation].filter((part) => part !== null).join(', ');
    const line = `The payment gateway at ${this.host} refuses the request itself, not the card (${said}). ${advice}`;
    this.error('refused', line, { operation, status, ...(shown !== null && { code: shown }) });
  }

  private refusalAdvice(status: number, code: string | null): string | null {
    if (status === 401 || status === 403) {
      const named = this.named('clientId', 'clientSecret', 'merchantId', 'scope', 'grantType');
      return `Check ${named}, and this host's clock (x-Timestamp).`;
    }
    if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
      return `Check ${this.named('baseUrl')}, which must end before /v1, and the dialect "${this.dialectName}".`;
    }
    if (status === 429) return 'It limits the number of requests: ask the vendor.';
    const isOwnValidation = this.validationPrefixes.some((prefix) => code?.startsWith(prefix));
    if (isOwnValidation || code === MERCHANT_CODE || status === 400 || status === 422) {
      return `If it refuses every request, check ${this.named('merchantId', 'apiKey')}, and how the sign is made.`;
    }
    return null;
  }

  private connectionAdvice(code = ''): string {
    if (NAME_CODE.test(code)) return `Its host name was not found: check ${this.named('baseUrl')} and this host's DNS.`;
    if (TLS_CODE.test(code)) {
      const needed = 'TLS 1.2 or 1.3 with forward secrecy is needed';
      const own = 'a private CA or a client certificate is set by the option dispatcher';
      return `No TLS connection: check ${this.named('baseUrl')}; ${needed}; ${own}.`;
    }
    return `Check ${this.named('baseUrl')}, firewalls, and the option dispatcher where a proxy is needed.`;
  }

  private named(...options: readonly string[]): string {
    return options.map((option) => `${option} (${variableOf(this.account, option)})`).join(', ');
  }

  protected error(kind: string, line: string, fields: LogFields): void {
    const { account, host } = this;
    this.limited.write(kind, (end) => this.logger.error(new LogRecord(line + end, { account, host, ...fields })));
  }
}

import type { PaymentClock } from '../payment/clock.js';
import { withTimeout } from '../payment/with-timeout.js';
import type { Payment } from '../payment/payment.js';
import type { Thrown } from '../payment/thrown.js';
import type {
  Auth3dRequest,
  BinRequest,
  DialectOperation,
  DialectOperations,
  GatewayOperation,
  GatewayResult,
  SaleRequest,
  GatewaySettings,
} from './gateway-dialect.js';
import type { GatewayTrouble } from './gateway-trouble.js';
import { chargeOutcome, type ChargeOutcome, type ChargeRules } from './readings/charge-outcome.js';
import { type Init3dOutcome, init3dOutcome } from './readings/init3d-outcome.js';
import { inquiryOutcome, type InquiryOutcome } from './readings/inquiry-outcome.js';
import { ReplyFields } from './readings/reply-fields.js';
import type { Expectation, ReadingRules } from './readings/result-checks.js';
import { describeRedacted, redactResult, type SensitiveData } from './redaction.js';
import type { GatewayTransport } from './transport/gateway-transport.js';
import type { Answer, RequestClaim, Transmission, WireRequest } from './transport/transmission.js';
import { inRequest } from './transport/request-span.js';
import { wireText } from './wire-body.js';

/** Proof that nothing left; `why` is for the developer. */
interface NotSent {
  readonly sent: false;
  readonly why: string;
}

interface NotMade extends NotSent {
  /** Which part of the host's own code threw, and what: for the log alone. */
  readonly by?: { readonly part: string; readonly thrown: Thrown };
}

/** A request that may have left, and what in it must not come back. */
type Sent = Answer & Pick<SensitiveData, 'secrets'>;

/** What became of a DoPayment or Auth3d. */
export type ChargeAttempt = NotSent | { readonly sent: true; readonly outcome: ChargeOutcome };

/** What became of an Init3d. */
export type Init3dAttempt = NotSent | ({ readonly sent: true } & Init3dOutcome);

/** What came of a question about a BIN; `status` is null where there was no answer, `result` where it cannot be read. */
export type BinAnswer =
  NotSent | { readonly sent: true; readonly status: number | null; readonly result: GatewayResult | null };

/** Not sent, since its claim has as good as run out, or nobody can tell whether it has. */
export const TOO_LATE: NotMade = { sent: false, why: 'the payment store or this process was held up for too long' };

/** How long a request may take to make: a signer may ask over a network. */
const MAX_PREPARATION_MS = 8_000;

const TOO_SLOW: NotMade = { sent: false, why: 'the signer took too long' };

/**
 * Speaks the dialect over the transport: builds, signs and sends a request, and reads its answer. It stores nothing.
 */
export class GatewayClient {
  constructor(
    private readonly settings: GatewaySettings,
    private readonly transport: GatewayTransport,
    private readonly clock: PaymentClock,
    private readonly trouble?: GatewayTrouble,
    /** Where the gateway is, if not where the settings say: a simulator knows its address once it listens. */
    private readonly baseUrl: string = settings.baseUrl,
  ) {}

  async doPayment(sale: SaleRequest, claim: RequestClaim): Promise<ChargeAttempt> {
    const { doPayment } = this.operations;
    const sent = await this.send('doPayment', doPayment, sale, claim);
    return this.readCharge('doPayment', sent, doPayment, sale, 'succeeded', sale.cardDetails);
  }

  async init3d(sale: SaleRequest): Promise<Init3dAttempt> {
    const { init3d } = this.operations;
    const sent = await this.send('init3d', init3d, sale);
    if (!sent.sent) return sent;
    const thrown: unknown[] = [];
    const outcome = await this.readStart(sent, sale.conversationId, thrown);
    const sensitive = { secrets: sent.secrets, card: sale.cardDetails };
    this.reportUnread('init3d', thrown, sensitive);
    if (outcome.content !== null) return { sent: true, ...outcome };
    const shown = redacted(outcome, sensitive);
    this.look('init3d', sent, shown.result);
    return { sent: true, ...shown };
  }

  async auth3d(request: Auth3dRequest, claim: RequestClaim): Promise<ChargeAttempt> {
    const { auth3d } = this.operations;
    const { payment } = request;
    const sent = await this.send('auth3d', auth3d, request, claim);
    // The request carries what a browser brought, which may be another payment's: the answer has to say whose it is.
    const distrust = this.canInquire ? 'unknown' : 'review';
    return this.readCharge('auth3d', sent, auth3d, payment, this.settings.trustUnbound ? 'succeeded' : distrust);
  }

  /** Whether the gateway can be asked for an outcome. */
  get canInquire(): boolean {
    return this.operations.checkPayment !== undefined;
  }

  /** Asks what became of a payment. Moves no money; null when no answer came. */
  async checkPayment(payment: Payment): Promise<InquiryOutcome | null> {
    const { checkPayment } = this.operations;
    if (!checkPayment) return { outcome: 'nothing' };
    const sent = await this.send('checkPayment', checkPayment, payment);
    if (!sent.sent || !sent.reply) return null;
    // No source shows how the answer to an inquiry is signed.
    const thrown: unknown[] = [];
    const rules = { ...this.rulesFor(thrown), isSignGood: null };
    const inquiry = inquiryOutcome(sent.reply, checkPayment, payment, rules);
    this.reportUnread('checkPayment', thrown, sent);
    const shown = 'charge' in inquiry ? { ...inquiry, charge: redacted(inquiry.charge, sent) } : inquiry;
    if (shown.outcome === 'nothing') this.look('checkPayment', sent, null);
    return shown;
  }

  /**
   * Asks about a BIN, which moves nothing: to see whether the gateway takes the credentials. Null where it has no such
   * operation.
   */
  async checkBin(request: BinRequest): Promise<BinAnswer | null> {
    const { checkBin } = this.operations;
    if (!checkBin) return null;
    const sent = await this.send('checkBin', checkBin, request);
    if (!sent.sent) return sent;
    if (!sent.reply) return { sent: true, status: null, result: null };
    const { status, text } = sent.reply;
    try {
      const fields = ReplyFields.parse(text);
      return { sent: true, status, result: fields && redactResult(checkBin.read(fields), sent) };
    } catch (error) {
      // A host's own dialect may throw while reading.
      this.reportUnread('checkBin', [error], sent);
      return { sent: true, status, result: null };
    }
  }

  /** On a stack of its own: what cannot be read throws inside, and the caller holds the card. */
  private async readStart(sent: Sent, conversationId: string, thrown: unknown[]): Promise<Init3dOutcome> {
    await Promise.resolve();
    return init3dOutcome(sent, this.operations.init3d, conversationId, this.rulesFor(thrown));
  }

  /** On a stack of its own, too. */
  private async readAnswer(
    sent: Sent,
    operation: DialectOperation<never, GatewayResult>,
    expected: Expectation,
    rules: ChargeRules,
  ): Promise<ChargeOutcome> {
    await Promise.resolve();
    return chargeOutcome(sent, operation, expected, rules);
  }

  private async readCharge(
    name: GatewayOperation,
    sent: Sent | NotSent,
    operation: DialectOperation<never, GatewayResult>,
    expected: Expectation,
    unboundState: ChargeRules['unboundState'],
    card?: SaleRequest['cardDetails'],
  ): Promise<ChargeAttempt> {
    if (!sent.sent) return sent;
    const { conversationId, amount, currencyCode, installmentCount } = expected;
    const sale = { conversationId, amount, currencyCode, installmentCount };
    const sensitive = { secrets: sent.secrets, card };
    const thrown: unknown[] = [];
    const rules = { ...this.rulesFor(thrown), unboundState };
    const outcome = await this.readAnswer(sent, operation, sale, rules);
    this.reportUnread(name, thrown, sensitive);
    const shown = redacted(outcome, sensitive);
    this.look(name, sent, shown.result);
    return { sent: true, outcome: shown };
  }

  /** For trouble with the merchant's settings in a reply. */
  private look(name: GatewayOperation, sent: Sent, result: GatewayResult | null): void {
    if (!sent.reply) return;
    // A dialect in plain JavaScript may give what is no text.
    const code: unknown = result?.code;
    this.trouble?.replied(name, { status: sent.reply.status, code: typeof code === 'string' ? code : null });
  }

  private async send<Request>(
    name: GatewayOperation,
    operation: DialectOperation<Request, unknown>,
    request: Request,
    claim?: RequestClaim,
  ): Promise<Sent | NotSent> {
    const [prepared, isTimeKnown] = await Promise.all([
      this.inTime(() => this.prepare(name, operation, request), TOO_SLOW),
      claim ? this.inTime(() => claim.confirmTime(), false) : true,
    ]);
    const isTooLate = claim !== undefined && !(isTimeKnown && claim.mayStart(claim.timeoutMs));
    const ready = !('sent' in prepared) && isTooLate ? TOO_LATE : prepared;
    if ('sent' in ready) {
      this.trouble?.notMade(name, ready.why, ready.by);
      return ready.by ? { sent: false, why: ready.why } : ready;
    }
    const transmission = await inRequest(name, operation.path, this.settings.account, ready.request, () =>
      this.transport.post(ready.request, claim),
    );
    this.reportLoss(name, transmission);
    if (transmission.sent) return { ...transmission, secrets: ready.secrets };
    if (transmission.cause === 'claim_over') return TOO_LATE;
    return { sent: false, why: transmission.cause.replaceAll('_', ' ') };
  }

  private inTime<T, Late>(work: () => Promise<T>, late: Late): Promise<T | Late> {
    return withTimeout(MAX_PREPARATION_MS, work, this.clock).catch(() => late);
  }

  private reportLoss(name: GatewayOperation, transmission: Transmission): void {
    if (!transmission.sent) {
      const { cause, errorCode = null } = transmission;
      if (cause === 'claim_over') this.trouble?.notMade(name, TOO_LATE.why);
      else this.trouble?.unreachable(name, cause, errorCode);
    } else if (!transmission.reply) this.trouble?.silent(name, transmission.cause, transmission.errorCode ?? null);
  }

  /** Builds and signs a request. */
  private async prepare<Request>(
    name: GatewayOperation,
    operation: DialectOperation<Request, unknown>,
    content: Request,
  ): Promise<NotMade | { readonly request: WireRequest; readonly secrets: readonly string[] }> {
    const { dialect, credentials } = this.settings;
    let part = `the dialect's body of ${name}`;
    try {
      const unsigned = operation.body(content, credentials.merchantId);
      part = dialect.name === 'standard' ? 'the signer' : "the dialect's sign";
      const sign: unknown = await dialect.sign(unsigned, { operation: name, apiKey: credentials.apiKey });
      if (sign !== null && typeof sign !== 'string') return { sent: false, why: 'the signer gave no text' };
      part = "the dialect's headers";
      const headers = dialect.headers({ credentials, operation: name, now: this.clock.now() });
      part = `the JSON of the dialect's body of ${name}`;
      const body = wireText(sign === null ? unsigned : { ...unsigned, sign });
      const secrets = [credentials.clientSecret, credentials.apiKey ?? '', sign ?? '', ...secretsIn(headers)];
      return { request: { url: this.baseUrl + operation.path, headers, body }, secrets };
    } catch (error) {
      const secrets = [credentials.clientSecret, credentials.apiKey ?? ''];
      const thrown = describeRedacted(error, { secrets, card: cardIn(content) });
      return { sent: false, why: 'the dialect or the signer failed to make the request', by: { part, thrown } };
    }
  }

  /** @param thrown takes what a dialect throws: to describe it needs the card, which is not at hand where it is thrown */
  private rulesFor(thrown: unknown[]): ReadingRules {
    return { ...this.rules, onThrow: (error) => void thrown.push(error) };
  }

  private reportUnread(name: GatewayOperation, thrown: readonly unknown[], sensitive: SensitiveData): void {
    for (const error of thrown) this.trouble?.notRead(name, describeRedacted(error, sensitive));
  }

  private get operations(): DialectOperations {
    return this.settings.dialect.operations;
  }

  private get rules(): ReadingRules {
    const { verifyAmount, verifySign, dialect, credentials } = this.settings;
    const isSignGood = verifySign && dialect.verifySign?.bind(dialect);
    return {
      codes: dialect.codes,
      verifyAmount,
      isSignGood: isSignGood ? (fields) => isSignGood(fields, { apiKey: credentials.apiKey }) : null,
    };
  }
}

function cardIn(content: unknown): SaleRequest['cardDetails'] | undefined {
  return (content as Partial<SaleRequest>).cardDetails;
}

function redacted<Outcome extends { readonly result: GatewayResult | null }>(
  outcome: Outcome,
  sensitive: SensitiveData,
): Outcome {
  return outcome.result ? { ...outcome, result: redactResult(outcome.result, sensitive) } : outcome;
}

/** A dialect may send a credential in another form than the configured one. */
function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(headers).filter((name) => /secret|authorization|key|token/i.test(name));
  return names.map((name) => headers[name] ?? '');
}

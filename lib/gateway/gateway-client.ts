import type { AmountFormat } from '../payment/amount.js';
import type { PaymentClock } from '../payment/clock.js';
import { type Carried, Masker } from '../payment/kept-text.js';
import { isLoopback } from '../payment/loopback.js';
import type { Payment, RefundKind } from '../payment/payment.js';
import { describeThrown, type Thrown } from '../payment/thrown.js';
import { withTimeout } from '../payment/with-timeout.js';
import type {
  Auth3dRequest,
  BinRequest,
  DialectOperation,
  DialectOperations,
  GatewayOperation,
  GatewayResult,
  GatewaySettings,
  HostedRequest,
  RefundRequest,
  ResultCodeSets,
  SaleRequest,
} from './gateway-dialect.js';
import type { GatewayTrouble } from './gateway-trouble.js';
import { keptResult } from './kept-result.js';
import { type BinOutcome, binOutcome, noAnswerAboutCard } from './readings/bin-outcome.js';
import { chargeOutcome, type ChargeOutcome } from './readings/charge-outcome.js';
import type { Expectation, Question } from './readings/facts.js';
import { type HostedForm, type HostedOutcome, hostedOutcome } from './readings/hosted-outcome.js';
import { type Init3dOutcome, init3dOutcome } from './readings/init3d-outcome.js';
import { inquiryOutcome, type InquiryOutcome } from './readings/inquiry-outcome.js';
import { ReplyFields } from './readings/reply-fields.js';
import type { GatewayTransport } from './transport/gateway-transport.js';
import { inRequestSpan } from './transport/request-span.js';
import type { Answer, RequestClaim, Transmission, WireRequest } from './transport/transmission.js';
import type { ChargeFacts, InquiryFacts } from './readings/verdicts.js';
import { wireText } from './wire-body.js';

/** How long a request may take to build and sign: a signer may make requests of its own. */
const MAX_PREPARATION_MS = 8_000;

/** It is certain that nothing was sent. `why` is for developers. */
interface NotSent {
  readonly sent: false;
  readonly why: string;
}

/** The request could not be built or signed, or must not be sent any more. */
interface NotMade extends NotSent {
  /** Which part of the host's own code threw, and what. For the log only. */
  readonly by?: { readonly part: string; readonly thrown: Thrown };
}

/** A request that may have been sent, and what keeps its secrets out of what is kept of the answer. */
type Sent = Answer & { readonly masker: Masker };

/** The outcome of a DoPayment, an Auth3d, a refund or a void. */
export type ChargeAttempt = NotSent | { readonly sent: true; readonly outcome: ChargeOutcome };

/** The outcome of an Init3d. */
export type Init3dAttempt = NotSent | ({ readonly sent: true } & Init3dOutcome);

/** The outcome of a request for the gateway's own page. */
export type HostedAttempt = NotSent | ({ readonly sent: true } & HostedOutcome);

/** The answer about a BIN. `status` is null if there was no answer, `result` if it cannot be read. */
export type BinAnswer =
  | NotSent
  | {
      readonly sent: true;
      readonly status: number | null;
      readonly result: GatewayResult | null;
      readonly outcome: BinOutcome;
    };

/** Not sent: the claim would run out before the deadline, or the time is not known well enough to rule that out. */
export const TOO_LATE: NotMade = { sent: false, why: 'the payment store or this process was held up for too long' };

const HOSTED_OPERATION = { page: 'hostedPage', embedded: 'embeddedForm' } as const satisfies Record<
  HostedForm,
  GatewayOperation
>;

const TOO_SLOW: NotMade = { sent: false, why: 'the signer took too long' };

/** Builds, signs and sends requests in the dialect, and reads their answers. It stores nothing. */
export class GatewayClient {
  constructor(
    private readonly settings: GatewaySettings,
    private readonly transport: GatewayTransport,
    private readonly clock: PaymentClock,
    private readonly trouble?: GatewayTrouble,
    /** Differs from the settings for a simulator, whose address is known only once it listens. */
    private readonly baseUrl: string = settings.baseUrl,
  ) {}

  async doPayment(sale: SaleRequest, claim: RequestClaim): Promise<ChargeAttempt> {
    const sent = await this.send('doPayment', this.operations.doPayment, sale, claim);
    return this.readCharge('doPayment', this.operations.doPayment, sent, sale, { mustName: false });
  }

  async init3d(sale: SaleRequest): Promise<Init3dAttempt> {
    const { init3d } = this.operations;
    const sent = await this.send('init3d', init3d, sale);
    if (!sent.sent) return sent;
    const outcome = init3dOutcome(sent, init3d, this.questionFor('init3d', sent, sale));
    if (outcome.content !== null) return { sent: true, ...outcome };
    const kept = this.kept('init3d', outcome, sent);
    this.reportReply('init3d', sent, kept.result);
    return { sent: true, ...kept };
  }

  /** Whether the dialect has the operation. */
  canHost(form: HostedForm): boolean {
    return this.operations[HOSTED_OPERATION[form]] !== undefined;
  }

  /** Asks for the gateway's own page or form. No money can move before the buyer has seen it. */
  async startHosted(form: HostedForm, request: HostedRequest): Promise<HostedAttempt> {
    const name = HOSTED_OPERATION[form];
    const operation = this.operations[name];
    if (!operation) return { sent: false, why: `the dialect has no ${name}` };
    const sent = await this.send(name, operation, request);
    if (!sent.sent) return sent;
    const { returnUrl, failUrl } = request;
    const rules = { form, isLocal: isLoopback(new URL(this.baseUrl).hostname), own: [returnUrl, failUrl] };
    const outcome = hostedOutcome(sent, operation, this.questionFor(name, sent, request), rules);
    if (outcome.page) return { sent: true, ...outcome };
    const kept = this.kept(name, outcome, sent);
    this.reportReply(name, sent, kept.result);
    return { sent: true, ...kept };
  }

  async auth3d(request: Auth3dRequest, claim: RequestClaim): Promise<ChargeAttempt> {
    const sent = await this.send('auth3d', this.operations.auth3d, request, claim);
    // The request carries fields from a browser, which may be another payment's: the answer has to name this payment.
    const mustName = !this.settings.trustUnbound;
    return this.readCharge('auth3d', this.operations.auth3d, sent, request.payment, { mustName });
  }

  /** Whether the dialect has the operation. */
  canRefund(kind: RefundKind): boolean {
    return this.operations[kind] !== undefined;
  }

  /**
   * Gives money back.
   *
   * @param saleAmounts the amounts of the payment, which the answer may show instead of the refund's
   */
  async refund(
    kind: RefundKind,
    request: RefundRequest,
    saleAmounts: readonly string[],
    claim: RequestClaim,
  ): Promise<ChargeAttempt> {
    const operation = this.operations[kind];
    if (!operation) return { sent: false, why: `the dialect has no ${kind}` };
    const sent = await this.send(kind, operation, request, claim);
    const expected = { ...request, installmentCount: 1, otherAmounts: saleAmounts };
    // The vendor's sample of a refund's answer has no sign.
    const special = { mustName: false, codes: this.refundCodes, isSignGood: null };
    return this.readCharge(kind, operation, sent, expected, special);
  }

  /** Whether the gateway can be asked for the outcome of a payment. */
  get canInquire(): boolean {
    return this.operations.checkPayment !== undefined;
  }

  /** Asks for the outcome of a payment, which moves no money. Null when no answer came. */
  checkPayment(payment: Payment): Promise<InquiryOutcome | null> {
    return this.inquire(payment, payment, payment.kind === 'hosted' ? 'page' : 'sale');
  }

  /**
   * Asks for the outcome of a refund by its own id, which moves no money. Whether the gateway knows refunds is not
   * known (unverified), so only an approval says anything. Null when no answer came.
   *
   * @param refund the refund in the shape of a payment
   * @param saleAmounts the amounts of the payment, which the answer may show instead of the refund's
   */
  checkRefund(refund: Payment, saleAmounts: readonly string[]): Promise<InquiryOutcome | null> {
    return this.inquire(refund, { ...refund, otherAmounts: saleAmounts }, 'refund');
  }

  private async inquire(
    payment: Payment,
    expected: Expectation,
    about: InquiryFacts['about'],
  ): Promise<InquiryOutcome | null> {
    const { checkPayment } = this.operations;
    if (!checkPayment) return { outcome: 'nothing' };
    const sent = await this.send('checkPayment', checkPayment, payment);
    if (!sent.sent || !sent.reply) return null;
    const codes = about === 'refund' ? this.refundCodes : this.settings.dialect.codes;
    // No source shows how the answer to an inquiry is signed.
    const question = { ...this.questionFor('checkPayment', sent, expected), codes, about, isSignGood: null };
    const inquiry = inquiryOutcome(sent.reply, checkPayment, question);
    if (inquiry.outcome === 'nothing' || inquiry.outcome === 'unanswered') this.reportReply('checkPayment', sent, null);
    return 'charge' in inquiry ? { ...inquiry, charge: this.kept('checkPayment', inquiry.charge, sent) } : inquiry;
  }

  /**
   * Asks about a BIN, which moves no money. Null if the gateway has no operation for it.
   *
   * @param timeoutMs the deadline: a buyer waits for the answer while typing
   */
  async checkBin(request: BinRequest, timeoutMs: number, amountFormat: AmountFormat): Promise<BinAnswer | null> {
    const { checkBin } = this.operations;
    if (!checkBin) return null;
    const sent = await this.send('checkBin', checkBin, request, deadline(timeoutMs));
    if (!sent.sent) return sent;
    if (!sent.reply) return { sent: true, status: null, result: null, outcome: noAnswerAboutCard('no_answer') };
    const { status, text } = sent.reply;
    const rules = { codes: this.settings.dialect.codes, amountFormat, masker: sent.masker };
    let result: GatewayResult | null = null;
    let outcome = binOutcome(status, null, request, rules);
    try {
      const fields = ReplyFields.parse(text);
      const read = fields && checkBin.read(fields);
      outcome = binOutcome(status, read, request, rules);
      result = read && keptResult(read, sent.masker, rules.codes);
    } catch (error) {
      // A host's own dialect may throw while reading.
      this.trouble?.notRead('checkBin', describeThrown(error, sent.masker));
    }
    this.reportReply('checkBin', sent, result);
    return { sent: true, status, result, outcome };
  }

  private readCharge(
    name: GatewayOperation,
    operation: DialectOperation<never, GatewayResult>,
    sent: Sent | NotSent,
    expected: Expectation,
    { mustName, ...special }: Pick<ChargeFacts, 'mustName'> & Partial<Question>,
  ): ChargeAttempt {
    if (!sent.sent) return sent;
    const question = { ...this.questionFor(name, sent, expected), ...special };
    const outcome = chargeOutcome(sent, operation, question, { mustName, canAsk: this.canInquire });
    const kept = this.kept(name, outcome, sent);
    this.reportReply(name, sent, kept.result);
    return { sent: true, outcome: kept };
  }

  private async send<Request>(
    name: GatewayOperation,
    operation: DialectOperation<Request, unknown>,
    request: Request,
    claim?: RequestClaim,
  ): Promise<Sent | NotSent> {
    const [prepared, isTimeKnown] = await Promise.all([
      this.orIfLate(TOO_SLOW, () => this.prepare(name, operation, request)),
      claim ? this.orIfLate(false, () => claim.confirmTime()) : true,
    ]);
    const isTooLate = claim !== undefined && !(isTimeKnown && claim.mayStart(claim.timeoutMs));
    const ready = !('sent' in prepared) && isTooLate ? TOO_LATE : prepared;
    if ('sent' in ready) {
      this.trouble?.notMade(name, ready.why, ready.by);
      // Callers compare with TOO_LATE, so it is passed on as it is.
      return ready.by ? { sent: false, why: ready.why } : ready;
    }
    const transmission = await inRequestSpan(name, operation.path, this.settings.account, ready.request, () =>
      this.transport.post(ready.request, claim),
    );
    this.reportLoss(name, transmission);
    if (transmission.sent) return { ...transmission, masker: ready.masker };
    if (transmission.cause === 'claim_over') return TOO_LATE;
    return { sent: false, why: transmission.cause.replaceAll('_', ' ') };
  }

  /** The result of the work; `late` if it takes too long or fails. */
  private orIfLate<T, Late>(late: Late, work: () => Promise<T>): Promise<T | Late> {
    return withTimeout(MAX_PREPARATION_MS, work, this.clock).catch(() => late);
  }

  /** Builds and signs a request. */
  private async prepare<Request>(
    name: GatewayOperation,
    operation: DialectOperation<Request, unknown>,
    content: Request,
  ): Promise<NotMade | { readonly request: WireRequest; readonly masker: Masker }> {
    const { dialect, credentials } = this.settings;
    const { clientSecret, apiKey } = credentials;
    let part = `the dialect's body of ${name}`;
    try {
      const unsigned = operation.body(content, credentials.merchantId);
      part = 'the signer';
      const sign: unknown = await dialect.sign(unsigned, { operation: name, apiKey });
      if (sign !== null && typeof sign !== 'string') return { sent: false, why: 'the signer did not return a string' };
      part = "the dialect's headers";
      const headers = dialect.headers({ credentials, operation: name, now: this.clock.now() });
      part = `the JSON of the dialect's body of ${name}`;
      const body = wireText(sign === null ? unsigned : { ...unsigned, sign });
      const masker = new Masker([clientSecret, apiKey, sign, ...secretsIn(headers)], content as Carried);
      return { request: { url: this.baseUrl + operation.path, headers, body }, masker };
    } catch (error) {
      const thrown = describeThrown(error, new Masker([clientSecret, apiKey], content as Carried));
      return { sent: false, why: 'the dialect or the signer failed to make the request', by: { part, thrown } };
    }
  }

  private reportLoss(name: GatewayOperation, transmission: Transmission): void {
    if (!transmission.sent) {
      const { cause, errorCode = null } = transmission;
      if (cause === 'claim_over') this.trouble?.notMade(name, TOO_LATE.why);
      else this.trouble?.unreachable(name, cause, errorCode);
    } else if (!transmission.reply) this.trouble?.noAnswer(name, transmission.cause, transmission.errorCode ?? null);
  }

  /** An outcome with what may be kept of its answer. It never throws, since money may have moved. */
  private kept<Outcome extends { readonly result: GatewayResult | null }>(
    name: GatewayOperation,
    outcome: Outcome,
    { masker }: Sent,
  ): Outcome {
    if (!outcome.result) return outcome;
    try {
      return { ...outcome, result: keptResult(outcome.result, masker, this.settings.dialect.codes) };
    } catch (error) {
      // A host's own dialect may give a result that throws when it is read.
      this.trouble?.notRead(name, describeThrown(error, masker));
      return { ...outcome, result: null };
    }
  }

  /** Reports a reply that points to a wrong setting of the merchant. */
  private reportReply(name: GatewayOperation, sent: Sent, result: GatewayResult | null): void {
    if (!sent.reply) return;
    // A dialect written in plain JavaScript may give anything as the code.
    const code: unknown = result?.code;
    try {
      this.trouble?.replied(name, sent.reply.status, typeof code === 'string' ? code : null);
    } catch {
      // Only advice: what was answered has been judged, and must not get lost because of a list in a host's own dialect.
    }
  }

  /** The code sets for answers to refunds and voids, of which some have a code of their own for an approval. */
  private get refundCodes(): ResultCodeSets {
    const { codes } = this.settings.dialect;
    return { ...codes, approvedCodes: codes.refundApprovedCodes ?? codes.approvedCodes };
  }

  private get operations(): DialectOperations {
    return this.settings.dialect.operations;
  }

  private questionFor(name: GatewayOperation, { masker }: Sent, expected: Question['expected']): Question {
    const { verifyAmount, verifySign, dialect, credentials } = this.settings;
    const isSignGood = verifySign && dialect.verifySign?.bind(dialect);
    return {
      expected,
      codes: dialect.codes,
      verifyAmount,
      isSignGood: isSignGood ? (fields) => isSignGood(fields, { apiKey: credentials.apiKey }) : null,
      onThrow: (error) => this.trouble?.notRead(name, describeThrown(error, masker)),
    };
  }
}

/** The deadline of a request that moves no money, and so needs no claim. */
function deadline(timeoutMs: number): RequestClaim {
  return { timeoutMs, confirmTime: () => Promise.resolve(true), mayStart: () => true };
}

/** The credentials in the headers: a dialect may send them in another form than the configured one. */
function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  const secret = Object.entries(headers).filter(([name]) => /secret|authorization|key|token/i.test(name));
  // `Bearer abc` and `abc`.
  return secret.flatMap(([, value]) => [value, ...value.split(' ').slice(1)]);
}

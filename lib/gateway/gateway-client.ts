import type { AmountFormat } from '../payment/amount.js';
import type { PaymentClock } from '../runtime/clock.js';
import { isLoopback } from '../runtime/network.js';
import type { Payment, PaymentReason, RefundKind } from '../payment/payment.js';
import { describeThrown } from '../payment/kept-text.js';
import { Exchange, type NotSent } from './exchange.js';
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
import { type BinOutcome, binOutcome, cardIn } from './readings/card-answer.js';
import { type Expectation, type Question, type ReadAnswer, readAnswer } from './readings/facts.js';
import { type ChargeOutcome, chargeOutcome, type InquiryOutcome, inquiryOutcome } from './readings/outcomes.js';
import { type BankPage, bankPageIn, type HostedForm, type HostedPage, hostedPageIn } from './readings/pages.js';
import { type InquiryFacts, judge, OPENING } from './readings/verdicts.js';
import type { RequestClaim } from './transport/attempt.js';
import type { GatewayTransport } from './transport/gateway-transport.js';

export { TOO_LATE } from './exchange.js';

/** What an operation of a dialect is given, and what it reads of the answer. */
type RequestOf<Name extends GatewayOperation> = Parameters<NonNullable<DialectOperations[Name]>['body']>[0];
type ResultOf<Name extends GatewayOperation> = ReturnType<NonNullable<DialectOperations[Name]>['read']>;

/** An answer that was read, or why there is none. `status` is null if there was no reply. */
type Asked<Shown> = NotSent | ({ readonly sent: true; readonly status: number | null } & ReadAnswer<Shown>);

/** Why there is nothing to show to the buyer. No money can move then. */
interface NothingShown {
  readonly reason: PaymentReason;
  readonly result: GatewayResult | null;
}

/** The outcome of a DoPayment, an Auth3d, a refund or a void. */
export type ChargeAttempt = NotSent | { readonly sent: true; readonly outcome: ChargeOutcome };

/** The outcome of an Init3d. */
export type Init3dAttempt =
  NotSent | ({ readonly sent: true } & (BankPage | ({ readonly content: null } & NothingShown)));

/** The outcome of a request for the gateway's own page. */
export type HostedAttempt =
  NotSent | ({ readonly sent: true } & ({ readonly page: HostedPage } | ({ readonly page: null } & NothingShown)));

/** The answer about a BIN. `status` is null if there was no answer, `result` if it cannot be read. */
export type BinAnswer =
  | NotSent
  | {
      readonly sent: true;
      readonly status: number | null;
      readonly result: GatewayResult | null;
      readonly outcome: BinOutcome;
      /** Whether the gateway answered the question, if only by a code that refuses it. */
      readonly isAnswered: boolean;
    };

const HOSTED_OPERATION = { page: 'hostedPage', embedded: 'embeddedForm' } as const satisfies Record<
  HostedForm,
  GatewayOperation
>;

/** Asks the gateway in the dialect, and says what its answers mean. It stores nothing. */
export class GatewayClient {
  private readonly exchange: Exchange;
  // Read once: a host's own dialect may have getters, and nothing of it may throw once something was sent.
  private readonly operations: DialectOperations;
  private readonly codes: ResultCodeSets;
  private readonly isSignGood: Question['isSignGood'];

  constructor(
    private readonly settings: GatewaySettings,
    transport: GatewayTransport,
    clock: PaymentClock,
    private readonly trouble?: GatewayTrouble,
    /** Differs from the settings for a simulator, whose address is known only once it listens. */
    private readonly baseUrl: string = settings.baseUrl,
  ) {
    const { dialect, credentials, verifySign: isSignVerified } = settings;
    this.exchange = new Exchange(settings, transport, clock, trouble, baseUrl);
    this.operations = { ...dialect.operations };
    this.codes = { ...dialect.codes };
    const verifySign = isSignVerified ? dialect.verifySign?.bind(dialect) : undefined;
    this.isSignGood = verifySign ? (fields) => verifySign(fields, { apiKey: credentials.apiKey }) : null;
  }

  /** Whether the gateway can be asked for the outcome of a payment. */
  get canInquire(): boolean {
    return this.operations.checkPayment !== undefined;
  }

  canHost(form: HostedForm): boolean {
    return this.operations[HOSTED_OPERATION[form]] !== undefined;
  }

  canRefund(kind: RefundKind): boolean {
    return this.operations[kind] !== undefined;
  }

  doPayment(sale: SaleRequest, claim: RequestClaim): Promise<ChargeAttempt> {
    return this.charge('doPayment', sale, { expected: sale }, claim);
  }

  /** The request carries fields from a browser, which may be another payment's: the answer has to name this payment. */
  auth3d(request: Auth3dRequest, claim: RequestClaim): Promise<ChargeAttempt> {
    return this.charge('auth3d', request, { expected: request.payment }, claim, !this.settings.trustUnbound);
  }

  /** @param saleAmounts the amounts of the payment, which the answer may show instead of the refund's */
  refund(
    kind: RefundKind,
    request: RefundRequest,
    saleAmounts: readonly string[],
    claim: RequestClaim,
  ): Promise<ChargeAttempt> {
    const expected = { ...request, installmentCount: 1, otherAmounts: saleAmounts };
    // The vendor's sample of a refund's answer has no sign.
    return this.charge(kind, request, { expected, codes: this.refundCodes, isSignGood: null }, claim);
  }

  private async charge<Name extends GatewayOperation>(
    name: Name,
    request: RequestOf<Name>,
    question: Asking<ResultOf<Name>, null>,
    claim: RequestClaim,
    mustName = false,
  ): Promise<ChargeAttempt> {
    const asked = await this.ask(name, request, question, claim);
    if (!asked.sent) return asked;
    return { sent: true, outcome: chargeOutcome(asked, { mustName, canAsk: this.canInquire }) };
  }

  async init3d(sale: SaleRequest): Promise<Init3dAttempt> {
    const asked = await this.ask('init3d', sale, { expected: sale, show: bankPageIn });
    if (!asked.sent) return asked;
    const nothing = nothingShown(asked);
    return nothing ? { sent: true, content: null, ...nothing } : { sent: true, ...asked.shown! };
  }

  /** Asks for the gateway's own page or form. No money can move before the buyer has seen it. */
  async startHosted(form: HostedForm, request: HostedRequest): Promise<HostedAttempt> {
    const { returnUrl, failUrl } = request;
    const rules = { form, isLocal: isLoopback(new URL(this.baseUrl).hostname), own: [returnUrl, failUrl] };
    const asked = await this.ask(HOSTED_OPERATION[form], request, {
      expected: request,
      show: (result) => hostedPageIn(result, rules),
    });
    if (!asked.sent) return asked;
    const nothing = nothingShown(asked);
    return nothing ? { sent: true, page: null, ...nothing } : { sent: true, page: asked.shown! };
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
    if (!this.canInquire) return { outcome: 'nothing' };
    const codes = about === 'refund' ? this.refundCodes : this.codes;
    // No source shows how the answer to an inquiry is signed.
    const asked = await this.ask('checkPayment', payment, { expected, codes, about, isSignGood: null });
    return asked.sent && asked.status !== null ? inquiryOutcome(asked, about) : null;
  }

  /**
   * Asks about a BIN, which moves no money. Null if the gateway has no operation for it.
   *
   * @param timeoutMs the deadline: a buyer waits for the answer while typing
   */
  async checkBin(request: BinRequest, timeoutMs: number, amountFormat: AmountFormat): Promise<BinAnswer | null> {
    if (!this.operations.checkBin) return null;
    const { conversationId, bin } = request;
    const question: Asking<ResultOf<'checkBin'>, ReturnType<typeof cardIn>> = {
      expected: { conversationId, amount: '0', currencyCode: 0, installmentCount: 1 },
      codes: this.refundCodes,
      isSignGood: null,
      show: (result, masker) => cardIn(result, request, amountFormat, masker),
    };
    const deadline = { timeoutMs, confirmTime: () => Promise.resolve(true), mayStart: () => true };
    const asked = await this.ask('checkBin', request, question, deadline);
    if (!asked.sent) return asked;
    const { status, facts, result, shown } = asked;
    const code = result?.code?.includes(bin) ? null : (result?.code ?? null);
    const outcome = binOutcome(judge(OPENING, facts), { code, message: result?.message ?? null }, shown);
    const isAnswered = status !== null && status < 500 && outcome.code === code;
    return { sent: true, status, result, outcome, isAnswered };
  }

  /** Sends a request and reads its answer. It never throws once something may have been sent. */
  private async ask<Name extends GatewayOperation, Shown = null>(
    name: Name,
    request: RequestOf<Name>,
    question: Asking<ResultOf<Name>, Shown>,
    claim?: RequestClaim,
  ): Promise<Asked<Shown>> {
    const operation = this.operations[name] as DialectOperation<RequestOf<Name>, ResultOf<Name>> | undefined;
    if (!operation) return { sent: false, why: `the dialect has no ${name}` };
    const sent = await this.exchange.send(name, operation, request, claim);
    if (!sent.sent) return sent;
    const { masker } = sent;
    const read = readAnswer(sent, operation, {
      codes: this.codes,
      verifyAmount: this.settings.verifyAmount,
      isSignGood: this.isSignGood,
      masker,
      onThrow: (part, error) => this.trouble?.notRead(name, part, describeThrown(error, masker)),
      ...question,
    });
    if (sent.reply) this.reportReply(name, sent.reply.status, read.result?.code ?? null);
    return { sent: true, status: sent.reply?.status ?? null, ...read };
  }

  /** Reports a reply that points to a wrong setting of the merchant. */
  private reportReply(name: GatewayOperation, status: number, code: string | null): void {
    try {
      // The code in an inquiry's answer is about the payment.
      this.trouble?.replied(name, status, name === 'checkPayment' ? null : code);
    } catch {
      // Only advice: what was answered has been judged, and must not get lost because of a list in a host's own
      // dialect.
    }
  }

  /** The code sets for answers to refunds and voids, of which some have a code of their own for an approval. */
  private get refundCodes(): ResultCodeSets {
    const { codes } = this;
    return { ...codes, approvedCodes: codes.refundApprovedCodes ?? codes.approvedCodes };
  }
}

/** A question, as far as it differs from that about a sale. */
type Asking<Result extends GatewayResult, Shown> = Pick<Question, 'expected'> & Partial<Question<Result, Shown>>;

/** Why an answer that should show something to the buyer shows nothing; null if it does. */
function nothingShown({ facts, result, shown }: ReadAnswer<unknown>): NothingShown | null {
  const reason = judge(OPENING, facts) ?? (shown === null ? 'unreadable' : null);
  // Of another payment's answer, nothing is kept.
  return reason && { reason, result: reason === 'conversation_mismatch' ? null : result };
}

import type { AmountFormat } from '../payment/amount.js';
import type { PaymentClock } from '../runtime/clock.js';
import { isLoopback } from '../runtime/network.js';
import type { Payment, PaymentReason, RefundKind } from '../payment/payment.js';
import { describeThrown } from '../payment/kept-text.js';
import { Exchange, type NotSent } from './exchange.js';
import type {
  BinRequest,
  DialectOperation,
  DialectOperations,
  GatewayOperation,
  GatewayResult,
  GatewaySettings,
  HostedRequest,
  ResultCodeSets,
  SaleRequest,
} from './gateway-dialect.js';
import type { GatewayTrouble } from './gateway-trouble.js';
import { type BinOutcome, binOutcome, cardIn } from './readings/card-answer.js';
import { type Expectation, type Question, type ReadAnswer, readAnswer } from './readings/facts.js';
import { type BankPage, bankPageIn, type HostedForm, type HostedPage, hostedPageIn } from './readings/pages.js';
import {
  type ChargeOutcome,
  chargeOutcome,
  type InquiryFacts,
  type InquiryOutcome,
  inquiryOutcome,
  judge,
  OPENING,
} from './readings/verdicts.js';
import type { RequestClaim } from './transport/attempt.js';
import type { GatewayTransport } from './transport/gateway-transport.js';

export { TOO_LATE } from './exchange.js';

/** What an operation of a dialect is given, and what it reads of the answer. */
type RequestOf<Name extends GatewayOperation> = Parameters<NonNullable<DialectOperations[Name]>['body']>[0];
type ResultOf<Name extends GatewayOperation> = ReturnType<NonNullable<DialectOperations[Name]>['read']>;

/** An answer that was read, or why there is none. `status` is null if there was no reply. */
type Asked<Shown> = NotSent | ({ readonly sent: true; readonly status: number | null } & ReadAnswer<Shown>);

/** What the answer to a request that moves money should be about. */
export interface Charge {
  readonly expected: Expectation;
  /** Whether an approval has to name the payment, since the request carries fields from a browser. Default false. */
  readonly mustName?: boolean;
  /** Whether the money goes back: then some codes approve that approve no sale. Default false. */
  readonly isMoneyBack?: boolean;
}

/** The outcome of a DoPayment, an Auth3d, a refund or a void. */
export type ChargeAttempt = NotSent | { readonly sent: true; readonly outcome: ChargeOutcome };

/** The page of an Init3d, or the gateway's own; or why there is none to show. No money can move then. */
export type OpeningAttempt<Page> = NoPageAttempt | { readonly sent: true; readonly page: Page };
export type NoPageAttempt = NotSent | NoPage;
interface NoPage {
  readonly sent: true;
  readonly page: null;
  readonly reason: PaymentReason;
  readonly result: GatewayResult | null;
}

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
  private readonly operations: DialectOperations;
  private readonly codes: ResultCodeSets;
  /** For answers to refunds and voids, of which some have a code of their own for an approval. */
  private readonly refundCodes: ResultCodeSets;
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
    // Read once: a host's own dialect may have getters, and none of them may throw once something was sent.
    this.operations = { ...dialect.operations };
    this.codes = { ...dialect.codes };
    const { approvedCodes, refundApprovedCodes = approvedCodes } = this.codes;
    this.refundCodes = { ...this.codes, approvedCodes: refundApprovedCodes };
    const verifySign = isSignVerified ? dialect.verifySign?.bind(dialect) : undefined;
    this.isSignGood = verifySign ? (fields) => verifySign(fields, { apiKey: credentials.apiKey }) : null;
  }

  get canInquire(): boolean {
    return this.operations.checkPayment !== undefined;
  }

  canHost(form: HostedForm): boolean {
    return this.operations[HOSTED_OPERATION[form]] !== undefined;
  }

  canRefund(kind: RefundKind): boolean {
    return this.operations[kind] !== undefined;
  }

  /** Sends a request that moves money. */
  async charge<Name extends GatewayOperation>(
    name: Name,
    request: RequestOf<Name>,
    { expected, mustName = false, isMoneyBack = false }: Charge,
    claim: RequestClaim,
  ): Promise<ChargeAttempt> {
    // The vendor's sample of a refund's answer has no sign.
    const rules = isMoneyBack ? { codes: this.refundCodes, isSignGood: null } : {};
    const asked = await this.ask(name, request, { expected, ...rules }, claim);
    if (!asked.sent) return asked;
    return { sent: true, outcome: chargeOutcome(asked, { mustName, canAsk: this.canInquire }) };
  }

  init3d(sale: SaleRequest): Promise<OpeningAttempt<BankPage>> {
    return this.open('init3d', sale, bankPageIn);
  }

  startHosted(form: HostedForm, request: HostedRequest): Promise<OpeningAttempt<HostedPage>> {
    const { returnUrl, failUrl } = request;
    const rules = { form, isLocal: isLoopback(new URL(this.baseUrl).hostname), own: [returnUrl, failUrl] };
    return this.open(HOSTED_OPERATION[form], request, (result) => hostedPageIn(result, rules));
  }

  /** No money can move before the buyer has seen the page. */
  private async open<Name extends GatewayOperation, Page>(
    name: Name,
    request: RequestOf<Name> & Expectation,
    show: (result: ResultOf<Name>) => Page | null,
  ): Promise<OpeningAttempt<Page>> {
    const asked = await this.ask(name, request, { expected: request, show });
    if (!asked.sent) return asked;
    const { facts, result, shown: page } = asked;
    const reason = judge(OPENING, facts);
    if (reason === null && page !== null) return { sent: true, page };
    // Of another payment's answer, nothing is kept.
    const kept = reason === 'conversation_mismatch' ? null : result;
    return { sent: true, page: null, reason: reason ?? 'unreadable', result: kept };
  }

  /** Asks for the outcome of a payment, which moves no money. Null when no answer came. */
  checkPayment(payment: Payment): Promise<InquiryOutcome | null> {
    return this.inquire(payment, payment, payment.kind === 'hosted' ? 'page' : 'sale');
  }

  /**
   * Asks for the outcome of a refund, given in the shape of a payment, by its own id. Whether the gateway knows refunds
   * is not known (unverified), so only an approval says anything. Null when no answer came.
   */
  checkRefund(refund: Payment, saleAmounts: readonly string[]): Promise<InquiryOutcome | null> {
    return this.inquire(refund, { ...refund, otherAmounts: saleAmounts }, 'refund');
  }

  private async inquire(
    payment: Payment,
    expected: Expectation,
    about: InquiryFacts['about'],
  ): Promise<InquiryOutcome | null> {
    if (!this.canInquire) return { outcome: 'unclear' };
    const codes = about === 'refund' ? this.refundCodes : this.codes;
    // No source shows how the answer to an inquiry is signed.
    const asked = await this.ask('checkPayment', payment, { expected, codes, about, isSignGood: null });
    return asked.sent && asked.status !== null ? inquiryOutcome(asked, about) : null;
  }

  /** Asks about a BIN. The deadline is its own, since a buyer waits while typing. Null without such an operation. */
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
    if (sent.reply) this.trouble?.replied(name, sent.reply.status, read.result?.code ?? null);
    return { sent: true, status: sent.reply?.status ?? null, ...read };
  }
}

/** A question, as far as it differs from that about a sale. */
type Asking<Result extends GatewayResult, Shown> = Pick<Question, 'expected'> & Partial<Question<Result, Shown>>;

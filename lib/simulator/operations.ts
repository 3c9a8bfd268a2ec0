import type { IncomingHttpHeaders } from 'node:http';
import { bankPageForm, embeddedForm } from './buyer-pages.js';
import type { SimulatedDialect } from './dialects.js';
import type { ChargeRefund, Decision, Ledger, RefundOperation, SimulatorOperation } from './ledger.js';
import {
  checkHeaders,
  type GatewayRequest,
  readJson,
  readRequest,
  Refusal,
  REFUSAL_CODES,
  type Scope,
} from './requests.js';
import type { SimulatorSettings } from './simulator-options.js';
import {
  type BankVerdict,
  bankVerdict,
  codeText,
  INSTALMENT_COUNTS,
  type MagicRefund,
  magicRefundOf,
  simulatedCardOf,
} from './test-data.js';
import { addressOf, matchesCallback, type PaymentIds, type Visit, type Visits } from './visits.js';
import {
  COMMISSION_RATE,
  commissionOf,
  isSameDay,
  istanbulTime,
  JsonNumber,
  type JsonObject,
  majorUnits,
  minorUnits,
  referencePrefix,
  replyDate,
} from './wire-values.js';

/** The effect of a request. Nothing happens before `commit`. */
export interface GatewayWork {
  readonly status: number;
  readonly fields: JsonObject;
  readonly pace: BankVerdict['pace'];
  readonly refusal: Refusal | null;
  commit(): void;
}

/** An answer with status 200, sent at once, that changes nothing unless it says otherwise. */
type OperationWork = Partial<GatewayWork> & Pick<GatewayWork, 'fields'>;

interface Operation {
  readonly path: string;
  /**
   * The `transactionDetails.transactionType` that asks for it, where it shares its path with an operation that takes
   * all others.
   */
  readonly transactionType?: string;
  /** The simulator's own rule: inquiries need `pf_read`, the gateway's own page `payment`, all others `pf_write`. */
  readonly scope: Scope;
  /** Whether a second call for the same conversationId is a violation. */
  readonly movesMoney: boolean;
  /** @throws Refusal (400) */
  readonly answer: (request: GatewayRequest, gateway: Gateway, body: JsonObject) => OperationWork;
}

const PAYMENT: Pick<Operation, 'path' | 'scope'> = { path: '/v1/Payment/DoPayment', scope: 'pf_write' };

/** What the gateway can be asked to do: where, and what it answers. */
export const OPERATIONS: Readonly<Record<SimulatorOperation, Operation>> = {
  DoPayment: {
    ...PAYMENT,
    movesMoney: true,
    answer(sale, gateway) {
      gateway.expectNew(sale);
      return gateway.settle(sale, 'direct', gateway.newIds());
    },
  },
  Init3d: {
    path: '/v1/Payment/Init3d',
    scope: 'pf_write',
    movesMoney: false,
    answer: (sale, gateway) =>
      gateway.openVisit(sale, (visit) => ({
        ...gateway.codeFields('B0000', sale.language),
        conversationId: sale.conversationId,
        // Base64 of UTF-8 HTML. Unverified: the interface shows no name.
        htmlForm: Buffer.from(bankPageForm(addressOf(visit, gateway.settings), sale.language)).toString('base64'),
      })),
  },
  Auth3d: {
    path: '/v1/Payment/Auth3d',
    scope: 'pf_write',
    movesMoney: true,
    answer: (_request, gateway, body) => gateway.completePayment(body),
  },
  CheckPayment: {
    path: '/v1/Payment/CheckPayment',
    scope: 'pf_read',
    movesMoney: false,
    answer: (request, gateway) => ({ fields: gateway.inquiryFields(request) }),
  },
  CheckBin: {
    path: '/v1/BinList/CheckBin',
    scope: 'pf_read',
    movesMoney: false,
    // Public sources show only the first two fields.
    answer: (request, { settings }) => ({
      fields: { responseCode: 'B0000', responseDescription: codeText('B0000', 'en'), ...binFields(request, settings) },
    }),
  },
  refund: {
    ...PAYMENT,
    transactionType: 'REFUND',
    movesMoney: true,
    answer: (request, gateway) => gateway.giveBack('refund', request),
  },
  void: {
    ...PAYMENT,
    transactionType: 'VOID',
    movesMoney: true,
    answer: (request, gateway) => gateway.giveBack('void', request),
  },
  hostedPage: {
    path: '/v1/HostedPayment/HostedPaymentRedirect',
    scope: 'payment',
    movesMoney: false,
    // Public sources show only `returnUrl`, which is the page's address, not the merchant's.
    answer: (request, gateway) =>
      gateway.openVisit(request, (visit) => ({
        ...gateway.openedFields(request),
        returnUrl: addressOf(visit, gateway.settings),
      })),
  },
  embeddedForm: {
    path: '/v1/EmbeddedPayment/CreatePaymentForm',
    scope: 'payment',
    movesMoney: false,
    answer: (request, gateway) =>
      gateway.openVisit(request, (visit) => ({
        ...gateway.openedFields(request),
        paymentFormContent: embeddedForm(visit, gateway.settings),
        paymentFormExpireTime: istanbulTime(visit.endsAt),
        returnUrl: request.returnUrl,
        failUrl: request.failUrl,
      })),
  },
};

/** The operations of a dialect at a path: first the one that a request asks for unless its body says otherwise. */
export function operationsAt(path: string, { operations }: SimulatedDialect): readonly SimulatorOperation[] {
  return operations.filter((name) => OPERATIONS[name].path === path);
}

/** The operation that a body asks for; null if there is none to choose from. */
export function operationOf(names: readonly SimulatorOperation[], body: unknown): SimulatorOperation | null {
  const { transactionDetails } = (body ?? {}) as { transactionDetails?: { transactionType?: unknown } | null };
  const type = transactionDetails?.transactionType;
  return names.find((name) => OPERATIONS[name].transactionType === type) ?? names[0] ?? null;
}

export function refusedWork(refusal: Refusal): GatewayWork {
  const fields = errorFields(refusal.code, refusal.message, refusal.problems);
  return { status: refusal.status, fields, pace: 'at once', refusal, commit: () => {} };
}

/** How errors look in the service's public documentation; the interface shows none. */
export function errorFields(code: string, message: string, problems: readonly string[] = []): JsonObject {
  const validationResults = problems.map((ErrorMessage) => ({ ErrorMessage }));
  return { Message: message, Details: message, Code: code, validationResults };
}

/** What the gateway knows: its payments, and the buyers at its page and at the bank. */
export class Gateway {
  private payments = 0;

  constructor(
    readonly settings: SimulatorSettings,
    readonly ledger: Ledger,
    readonly visits: Visits,
  ) {}

  /** Checks a request, and says what it leads to. */
  workOf(name: SimulatorOperation, headers: IncomingHttpHeaders, text: string): GatewayWork {
    try {
      checkHeaders(headers, OPERATIONS[name].scope, this.settings);
      const body = readJson(headers, text);
      const request = readRequest(name, body, this.settings);
      if (name !== 'Auth3d') this.expectSign(name, body);
      const work = OPERATIONS[name].answer(request, this, body);
      return { status: 200, pace: 'at once', refusal: null, commit: () => {}, ...work };
    } catch (error) {
      if (error instanceof Refusal) return refusedWork(error);
      throw error;
    }
  }

  /** @throws Refusal (400) */
  private expectSign(operation: SimulatorOperation, body: JsonObject): void {
    const { dialect, credentials } = this.settings;
    const isGood = dialect.isSignGood(body, { operation, apiKey: credentials.apiKey });
    if (!isGood) throw new Refusal(400, REFUSAL_CODES.sign, 'sign is wrong');
  }

  /** @throws Refusal (400) when a payment was begun, a page opened, or money asked back, with this conversationId */
  expectNew({ conversationId }: GatewayRequest): void {
    if (this.ledger.decision(conversationId) ?? this.visits.of(conversationId)) {
      throw new Refusal(400, REFUSAL_CODES.repeated, 'conversationId was already used');
    }
  }

  newIds(): PaymentIds {
    this.payments += 1;
    const number = String(this.payments).padStart(9, '0');
    return { orderId: `ORD${number}`, paymentId: `7${number}` };
  }

  codeFields(code: string, language: string): JsonObject {
    const { approvalLanguage } = this.settings.dialect;
    const message = codeText(code, code === 'B0000' ? (approvalLanguage ?? language) : language);
    return { code, message, resultCode: code, resultDescription: message };
  }

  /** How the answers about the gateway's own page begin. */
  openedFields({ conversationId, language }: GatewayRequest): JsonObject {
    const { code, message } = this.codeFields('B0000', language);
    return { code, message, conversationId };
  }

  /** Opens the bank's page for a buyer, or the gateway's own. */
  openVisit(request: GatewayRequest, fieldsOf: (visit: Visit) => JsonObject): OperationWork {
    this.expectNew(request);
    const visit = this.visits.prepare(request, this.newIds());
    return { fields: fieldsOf(visit), commit: () => this.visits.open(visit) };
  }

  /** Auth3d. */
  completePayment(body: JsonObject): OperationWork {
    const visit = typeof body.conversationId === 'string' ? this.visits.of(body.conversationId) : undefined;
    if (!visit?.verification || !matchesCallback(visit.verification.callback, body)) {
      throw new Refusal(400, REFUSAL_CODES.callback, 'Not the content that the bank sent');
    }
    if (this.ledger.decision(visit.request.conversationId)) {
      throw new Refusal(400, REFUSAL_CODES.repeated, 'Auth3d was already called for this payment');
    }
    const { code } = visit.verification;
    return this.settle(visit.request, '3d', visit, code === 'B0000' ? null : code);
  }

  /**
   * Has the bank decide on a sale. The answer is DoPayment's of docs/interface.md; that Auth3d has the same is assumed.
   *
   * @param refusal the bank's code if the buyer was not verified
   */
  settle(
    sale: GatewayRequest,
    kind: 'direct' | '3d',
    { orderId, paymentId }: PaymentIds,
    refusal: string | null = null,
  ): OperationWork {
    const at = this.settings.clock();
    const verdict: BankVerdict =
      refusal === null
        ? bankVerdict(sale, at)
        : { code: refusal, chargedAmount: null, pace: 'at once', inquiry: refusal };
    const { conversationId, currencyCode, installmentCount, maskedCardNumber } = sale;
    const { inquiry, pace } = verdict;
    const isWhole = verdict.chargedAmount === sale.amount;
    const charged = isWhole ? chargedFor(sale, this.settings) : verdict.chargedAmount;
    const details = { conversationId, orderId, paymentId, currencyCode, installmentCount, kind, maskedCardNumber, at };
    const charge = charged === null ? null : { ...details, amount: charged };
    const amount = charged ?? sale.amount;
    const fields = {
      ...this.codeFields(verdict.code, sale.language),
      responseDate: replyDate(at),
      conversationId,
      orderId,
      paymentId,
      bankUniqueReferenceNumber: charge ? referencePrefix(at) + paymentId.slice(-6) : '',
      transactionDate: replyDate(at),
      currency: String(currencyCode),
      authCode: charge ? paymentId.slice(-6) : '',
      paymentInstrumentType: 'CARDPAYMENT',
      sign: '',
      instrumentDetail: { maskedCardNumber, cardType: 'CARD' },
      paymentInfo: {
        installmentCount: new JsonNumber(String(installmentCount)),
        payFacCommissionRate: new JsonNumber(COMMISSION_RATE),
        amount: new JsonNumber(amount),
        payFacCommissionAmount: new JsonNumber(commissionOf(amount)),
      },
      okUrl: null,
      failUrl: null,
    };
    const decision = { conversationId, kind: 'sale', inquiry, orderId, paymentId, charge, refund: null } as const;
    return { fields, pace, commit: () => this.ledger.record(decision) };
  }

  /**
   * Decides on a refund or void. The answer is that of the vendor's public sample of a refund: it has no sign and no
   * amount. That a void's is the same is assumed, as is that the ids are those of the payment.
   *
   * @throws Refusal (400) when the conversationId was used before
   */
  giveBack(kind: RefundOperation, request: GatewayRequest): OperationWork {
    this.expectNew(request);
    const { ledger } = this;
    const { conversationId, language, paymentId } = request;
    const at = this.settings.clock();
    const payment = ledger.decisionOfPayment(paymentId);
    const charge = payment?.charge ?? null;
    const given = charge ? ledger.refundsOf(charge) : [];
    const { code, givesBack, pace, inquiry, exceedsBalance } = refundVerdict(kind, request, payment, given, at);
    const orderId = payment?.orderId ?? request.orderId;
    const amount = request.amount || charge?.amount;
    const refund: ChargeRefund | null =
      charge && amount && givesBack
        ? { conversationId, kind, charge, amount, currencyCode: charge.currencyCode, at }
        : null;
    const fields = {
      ...this.codeFields(code, language),
      responseDate: replyDate(at),
      conversationId,
      orderId,
      paymentId,
      bankUniqueReferenceNumber: refund ? referencePrefix(at) + this.newIds().paymentId.slice(-6) : '',
    };
    return {
      fields,
      pace,
      commit() {
        ledger.record({ conversationId, kind, inquiry, orderId, paymentId, charge: null, refund });
        if (exceedsBalance) {
          ledger.violations.push({ kind: 'excessive-refund', operation: kind, conversationId, at });
        }
      },
    };
  }

  /**
   * CheckPayment, as the service's public documentation and its users show it. A page at which no try was answered is
   * as unknown as a conversationId that it never saw: unverified.
   */
  inquiryFields({ conversationId }: GatewayRequest): JsonObject {
    const decision = this.ledger.decision(conversationId);
    // A sale stays what it was when money is given back.
    const found = decision?.kind === 'sale' || this.settings.inquiryKnowsRefunds ? decision : undefined;
    const responseCode = found?.inquiry ?? 'B0029';
    const responseDescription = codeText(responseCode, 'en');
    if (!found?.inquiry) return { responseCode, responseDescription };
    const { kind, orderId, paymentId, charge, refund } = found;
    const moved = charge ?? refund;
    const paymentInfo = moved && {
      amount: new JsonNumber(moved.amount),
      currency: String(moved.currencyCode),
      ...(charge && { installmentCount: new JsonNumber(String(charge.installmentCount)) }),
    };
    const transactionStatus = moved ? 'SUCCESS' : 'FAILED';
    const transactionType = kind.toUpperCase();
    return {
      ...{ responseCode, responseDescription, transactionStatus, transactionType },
      ...{ paymentInfo, orderId, paymentId },
    };
  }
}

/**
 * The result codes of refunds and voids that the gateway declines. Which ones the service uses is unverified: these are
 * the ones of the vendor's list, which follows ISO 8583, whose meaning comes closest.
 */
const DECLINES = {
  /** PaymentID is not found. */
  unknownPayment: 'B0100',
  /** PaymentID is invalid: it is another order's. */
  otherOrder: 'B0101',
  /** Original is declined: nothing was taken. */
  notCharged: 'B0028',
  /** Invalid transaction: the general one. The list has none about currencies. */
  otherCurrency: 'B0012',
  /** Invalid amount: more than is left. */
  amount: 'B0013',
  /** Invalid Authorization Life Cycle: after what was given back before, there can be no void, or no refund. */
  lifeCycle: 'B0084',
  /** No action taken, by which ISO 8583 means that a transaction can no longer be backed out: its day has passed. */
  settled: 'B0021',
} as const;

interface RefundVerdict extends Pick<MagicRefund, 'code' | 'givesBack' | 'pace' | 'inquiry'> {
  /** Whether more was asked for than was left. */
  readonly exceedsBalance: boolean;
}

/** @param given what was given back of the charge before */
function refundVerdict(
  kind: RefundOperation,
  request: GatewayRequest,
  payment: Decision | undefined,
  given: readonly ChargeRefund[],
  at: Date,
): RefundVerdict {
  if (!payment) return declined(DECLINES.unknownPayment);
  const { orderId, charge } = payment;
  if (kind === 'refund' && request.orderId !== orderId) return declined(DECLINES.otherOrder);
  if (!charge) return declined(DECLINES.notCharged);
  const { currencyCode } = charge;
  if (request.currencyCode !== currencyCode) return declined(DECLINES.otherCurrency);

  const amount = request.amount || charge.amount;
  const taken = minorUnits(charge.amount, currencyCode);
  const left = given.reduce((rest, earlier) => rest - minorUnits(earlier.amount, currencyCode), taken);
  const exceedsBalance = minorUnits(amount, currencyCode) > left;
  const isBarred = kind === 'void' ? given.length > 0 : given.some((earlier) => earlier.kind === 'void');
  if (isBarred) return declined(DECLINES.lifeCycle, exceedsBalance);
  if (exceedsBalance) return declined(DECLINES.amount, exceedsBalance);
  if (kind === 'void' && !isSameDay(charge.at, at)) return declined(DECLINES.settled);
  return { ...magicRefundOf(amount), exceedsBalance };
}

function declined(code: string, exceedsBalance = false): RefundVerdict {
  return { code, givesBack: false, pace: 'at once', inquiry: code, exceedsBalance };
}

/**
 * The fields of CheckBin's answer besides its code; none for a card that is no test card. Their names are unverified:
 * `cardBrand`, `installmentList`, `installmentCount` and `installmentTotalAmount` are of a like answer of the vendor's
 * panel, the others invented.
 */
function binFields(request: GatewayRequest, settings: SimulatorSettings): JsonObject {
  const card = simulatedCardOf(request.bin);
  if (!card) return {};
  const counts = card.type === 'CREDIT' ? INSTALMENT_COUNTS : [];
  const installmentList = counts.map((count, index) => ({
    installmentId: new JsonNumber(String(index + 1)),
    installmentCount: new JsonNumber(String(count)),
    ...(request.amount !== '' && { installmentTotalAmount: new JsonNumber(totalOf(request, count, settings)) }),
  }));
  const { bank: bankName, type: cardType, brand: cardBrand, isCommercial } = card;
  return { bankName, cardType, cardBrand, isCommercial, installmentList };
}

/** What a card is charged for a sale: with the fee of its instalments, if it has any. */
function chargedFor(sale: GatewayRequest, settings: SimulatorSettings): string {
  const card = simulatedCardOf(sale.maskedCardNumber);
  return card?.type === 'CREDIT' ? totalOf(sale, sale.installmentCount, settings) : sale.amount;
}

/** The amount with the fee of so many instalments, rounded half up; as it was written if there is no fee. */
function totalOf(sale: GatewayRequest, count: number, { installmentRates }: SimulatorSettings): string {
  const { amount, currencyCode } = sale;
  const [whole = '0', fraction = ''] = (installmentRates[count] ?? '0').split('.');
  const rate = BigInt(whole + fraction);
  if (rate === 0n) return amount;
  const hundred = 100n * 10n ** BigInt(fraction.length);
  const price = minorUnits(amount, currencyCode);
  return majorUnits(price + (price * rate * 2n + hundred) / (hundred * 2n), currencyCode);
}

import type { IncomingHttpHeaders } from 'node:http';
import { bringsBack, type Bank } from './bank.js';
import { checkHeaders } from './check-headers.js';
import { checkBinInquiry, checkInquiry, checkSale, type Sale } from './check-sale.js';
import { referencePrefix, replyDate } from './dates.js';
import { isJsonObject, JsonNumber, parseExact, type JsonObject, type JsonValue } from './exact-json.js';
import type { Ledger, SimulatorOperation } from './ledger.js';
import { bankVerdict, codeText, type BankVerdict } from './magic.js';
import { maskedCard } from './masked-card.js';
import { commissionOf, COMMISSION_RATE } from './money.js';
import { Refusal, REFUSAL_CODES } from './refusal.js';
import type { InquiryAnswer, SimulatorSettings } from './simulator-options.js';

/** What a request leads to. Nothing happens before `commit`. */
export interface GatewayWork {
  readonly status: number;
  readonly fields: JsonObject;
  readonly pace: BankVerdict['pace'];
  readonly refusal: Refusal | null;
  commit(): void;
}

type OperationWork = Partial<GatewayWork> & Pick<GatewayWork, 'fields'>;

/** The gateway without its HTTP: checks a request, decides, and writes the ledger. */
export class Gateway {
  /** conversationIds that a payment was begun with. */
  private readonly begun = new Set<string>();
  private readonly authorised = new Set<string>();
  private payments = 0;

  constructor(
    private readonly settings: SimulatorSettings,
    private readonly ledger: Ledger,
    private readonly bank: Bank,
  ) {}

  handle(operation: SimulatorOperation, headers: IncomingHttpHeaders, text: string): GatewayWork {
    try {
      checkHeaders(headers, operation, this.settings);
      return {
        status: 200,
        pace: 'at once',
        refusal: null,
        commit: () => {},
        ...this.answer(operation, jsonBody(headers, text)),
      };
    } catch (error) {
      if (error instanceof Refusal) return refusedWork(error);
      throw error;
    }
  }

  replySign(fields: JsonObject): string {
    return this.settings.dialect.replySign(fields, this.settings.credentials.apiKey);
  }

  reset(): void {
    this.begun.clear();
    this.authorised.clear();
  }

  private answer(operation: SimulatorOperation, body: JsonObject): OperationWork {
    switch (operation) {
      case 'DoPayment':
        return this.doPayment(body);
      case 'Init3d':
        return this.init3d(body);
      case 'Auth3d':
        return this.auth3d(body);
      case 'CheckPayment':
        return this.checkPayment(body);
      case 'CheckBin':
        return this.checkBin(body);
    }
  }

  private doPayment(body: JsonObject): OperationWork {
    const sale = this.newSale('DoPayment', body);
    const settled = this.settle(sale, 'direct', this.newIds());
    return { ...settled, commit: () => void (this.begun.add(sale.conversationId), settled.commit()) };
  }

  private init3d(body: JsonObject): OperationWork {
    const sale = this.newSale('Init3d', body);
    const session = this.bank.prepare(sale, this.newIds());
    const fields = {
      ...this.codeFields('B0000', sale.language),
      conversationId: sale.conversationId,
      [this.settings.contentField]: this.bank.page(session),
    };
    return { fields, commit: () => void (this.begun.add(sale.conversationId), this.bank.open(session)) };
  }

  private auth3d(body: JsonObject): OperationWork {
    const { carelessAuth3d } = this.settings;
    if (carelessAuth3d !== 'no') return this.carelessAuth3d(body, carelessAuth3d);
    const given = body.conversationId ?? body.ConversationId;
    const conversationId = typeof given === 'string' ? given : '';
    const session = this.bank.sessionOf(conversationId);
    if (!session?.result || !bringsBack(session.result.content, body)) {
      throw new Refusal(400, REFUSAL_CODES.callback, 'Not the content that the bank sent');
    }
    if (this.authorised.has(conversationId)) {
      throw new Refusal(400, REFUSAL_CODES.repeated, 'Auth3d was already called for this conversationId');
    }
    const settled = this.settle(session.sale, '3d', session, session.result);
    return { ...settled, commit: () => void (this.authorised.add(conversationId), settled.commit()) };
  }

  /** Goes by the PaymentId alone, and does not say whose payment it approves. */
  private carelessAuth3d(body: JsonObject, manner: 'bare' | 'echo'): OperationWork {
    const session = this.bank.sessionOfPayment(body.PaymentId);
    if (!session?.result) throw new Refusal(400, REFUSAL_CODES.callback, 'Not the content that the bank sent');
    const { conversationId } = session.sale;
    if (this.authorised.has(conversationId)) {
      throw new Refusal(400, REFUSAL_CODES.repeated, 'Auth3d was already called for this payment');
    }
    const settled = this.settle(session.sale, '3d', session, session.result);
    const { code } = settled.fields;
    return {
      ...settled,
      fields: manner === 'bare' ? { code } : { code, conversationId: body.conversationId ?? body.ConversationId },
      commit: () => void (this.authorised.add(conversationId), settled.commit()),
    };
  }

  /**
   * The shape is that of the service's public documentation and its users. For an unknown payment the code is B0029.
   */
  private checkPayment(body: JsonObject): OperationWork {
    const conversationId = checkInquiry(body, this.settings);
    this.expectSign('CheckPayment', body);
    const decision = this.ledger.decision(conversationId);
    const code = decision?.inquiry ?? 'B0029';
    const answer = { responseCode: code, responseDescription: codeText(code, 'en') };
    if (!decision?.inquiry) return { fields: answer };
    const { orderId, paymentId, charge } = decision;
    const paymentInfo = charge && {
      amount: new JsonNumber(charge.amount),
      currency: String(charge.currencyCode),
      installmentCount: new JsonNumber(String(charge.installmentCount)),
    };
    const transactionStatus = charge ? 'SUCCESS' : 'FAILED';
    const { responseCode, responseDescription } = answer;
    const answers: Readonly<Record<InquiryAnswer, JsonObject>> = {
      full: { ...answer, transactionStatus, transactionType: 'SALE', paymentInfo, orderId, paymentId },
      code: { responseCode },
      text: { responseCode, responseDescription },
      status: { responseCode, transactionStatus },
      id: { responseCode, conversationId },
      amount: { responseCode, ...(charge && { amount: new JsonNumber(charge.amount) }) },
    };
    return { fields: answers[this.settings.inquiryAnswer] };
  }

  /** Of the answer, public sources show these two fields alone. */
  private checkBin(body: JsonObject): OperationWork {
    checkBinInquiry(body, this.settings);
    this.expectSign('CheckBin', body);
    return { fields: { responseCode: 'B0000', responseDescription: codeText('B0000', 'en') } };
  }

  private newSale(operation: SimulatorOperation, body: JsonObject): Sale {
    const sale = checkSale(body, this.settings);
    this.expectSign(operation, body);
    if (this.begun.has(sale.conversationId)) {
      throw new Refusal(400, REFUSAL_CODES.repeated, 'conversationId was already used');
    }
    return sale;
  }

  private expectSign(operation: SimulatorOperation, body: JsonObject): void {
    const { dialect, credentials, checkSign } = this.settings;
    const isGood = dialect.isSignGood(body, { operation, apiKey: credentials.apiKey, checkSign });
    if (!isGood) throw new Refusal(400, REFUSAL_CODES.sign, 'sign is wrong');
  }

  private newIds(): { orderId: string; paymentId: string } {
    this.payments += 1;
    const number = String(this.payments).padStart(9, '0');
    return { orderId: `ORD${number}`, paymentId: `7${number}` };
  }

  /** The charge and its reply as docs/interface.md shows DoPayment's, which Auth3d is assumed to share. */
  private settle(
    sale: Sale,
    kind: 'direct' | '3d',
    { orderId, paymentId }: { orderId: string; paymentId: string },
    verification = { verified: true, code: '' },
  ): OperationWork & Pick<GatewayWork, 'commit'> {
    const at = this.settings.clock();
    const refused: BankVerdict = {
      code: verification.code,
      chargedAmount: null,
      pace: 'at once',
      inquiry: verification.code,
    };
    const verdict = verification.verified ? bankVerdict(sale, at) : refused;
    const { conversationId, currencyCode, installmentCount } = sale;
    const maskedCardNumber = maskedCard(sale.cardDetails.cardNo);
    const amount = verdict.chargedAmount;
    const details = { conversationId, orderId, paymentId, currencyCode, installmentCount, kind, maskedCardNumber, at };
    const charge = amount === null ? null : { ...details, amount };
    const replyAmount = amount ?? sale.amount;
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
        amount: new JsonNumber(replyAmount),
        payFacCommissionAmount: new JsonNumber(commissionOf(replyAmount)),
      },
      okUrl: null,
      failUrl: null,
    };
    const commit = () => this.ledger.record({ conversationId, orderId, paymentId, charge, inquiry: verdict.inquiry });
    return { fields, pace: verdict.pace, commit };
  }

  private codeFields(code: string, language: string): JsonObject {
    const { approvalLanguage } = this.settings.dialect;
    const message = codeText(code, code === 'B0000' ? (approvalLanguage ?? language) : language);
    return { code, message, resultCode: code, resultDescription: message };
  }
}

/** The error shape of the service's public documentation; the contract shows none. */
export function errorFields(code: string, message: string, problems: readonly string[] = []): JsonObject {
  const validationResults = problems.map((ErrorMessage) => ({ ErrorMessage }));
  return { Message: message, Details: message, Code: code, validationResults };
}

export function refusedWork(refusal: Refusal): GatewayWork {
  const fields = errorFields(refusal.code, refusal.message, refusal.problems);
  return { status: refusal.status, fields, pace: 'at once', refusal, commit: () => {} };
}

function jsonBody(headers: IncomingHttpHeaders, text: string): JsonObject {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new Refusal(415, REFUSAL_CODES.contentType, 'The body must be application/json');
  }
  let body: JsonValue;
  try {
    body = parseExact(text);
  } catch {
    throw new Refusal(400, REFUSAL_CODES.json, 'The body is not JSON');
  }
  if (!isJsonObject(body)) throw new Refusal(400, REFUSAL_CODES.json, 'The body is not a JSON object');
  return body;
}

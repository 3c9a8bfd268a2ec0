import type { Bank } from './bank.js';
import { chargedFor } from './bins.js';
import {
  COMMISSION_RATE,
  commissionOf,
  JsonNumber,
  type JsonObject,
  referencePrefix,
  replyDate,
} from './wire-values.js';
import type { HostedPages } from './hosted-pages.js';
import type { Ledger, SimulatorOperation } from './ledger.js';
import { type BankVerdict, bankVerdict, codeText } from './magic.js';
import { Refusal, REFUSAL_CODES, type GatewayRequest } from './requests.js';
import type { SimulatorSettings } from './simulator-options.js';

/** The effect of a request. Nothing happens before `commit`. */
export interface GatewayWork {
  readonly status: number;
  readonly fields: JsonObject;
  readonly pace: BankVerdict['pace'];
  readonly refusal: Refusal | null;
  commit(): void;
}

/** An answer with status 200, sent at once, that changes nothing unless it says otherwise. */
export type OperationWork = Partial<GatewayWork> & Pick<GatewayWork, 'fields'>;

interface PaymentIds {
  readonly orderId: string;
  readonly paymentId: string;
}

/** What all operations of the gateway share: its payments, its bank, its pages, its signatures. */
export class Gateway {
  private payments = 0;

  constructor(
    readonly settings: SimulatorSettings,
    readonly ledger: Ledger,
    readonly bank: Bank,
    readonly pages: HostedPages,
  ) {}

  /** @throws Refusal (400) */
  expectSign(operation: SimulatorOperation, body: JsonObject): void {
    const { dialect, credentials } = this.settings;
    const isGood = dialect.isSignGood(body, { operation, apiKey: credentials.apiKey });
    if (!isGood) throw new Refusal(400, REFUSAL_CODES.sign, 'sign is wrong');
  }

  /** @throws Refusal (400) when a payment was begun, a page opened, or money asked back, with this conversationId */
  expectNew({ conversationId }: { readonly conversationId: string }): void {
    const { ledger, bank, pages } = this;
    if (ledger.decision(conversationId) ?? bank.sessionOf(conversationId) ?? pages.pageOf(conversationId)) {
      throw new Refusal(400, REFUSAL_CODES.repeated, 'conversationId was already used');
    }
  }

  newIds(): PaymentIds {
    this.payments += 1;
    const number = String(this.payments).padStart(9, '0');
    return { orderId: `ORD${number}`, paymentId: `7${number}` };
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

  codeFields(code: string, language: string): JsonObject {
    const { approvalLanguage } = this.settings.dialect;
    const message = codeText(code, code === 'B0000' ? (approvalLanguage ?? language) : language);
    return { code, message, resultCode: code, resultDescription: message };
  }
}

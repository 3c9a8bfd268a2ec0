import { Injectable } from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import type { DoPaymentDto, HostedPaymentDto, TransactionDetailsDto } from '../dto/sale.dto.js';
import { copyInput, validateCopy } from '../dto/validate-input.js';
import { PaymentStoreError } from '../errors/payment-errors.js';
import { PaymentValidationError } from '../errors/payment-errors.js';
import type { HostedRequest, SaleRequest } from '../gateway/gateway-dialect.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { AMOUNT_TEXTS, type AmountFormat, canonicalAmount } from '../payment/amount.js';
import { maskCardNumber } from '../payment/kept-text.js';
import { type PaymentKind, type PaymentRecord, UNANSWERED } from '../payment/payment.js';
import { referenceLockIn } from '../payment/transitions.js';
import { loopTurn } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';
import { claimEnd } from '../settlement/claim.js';
import { type Earlier, PaymentReader } from '../settlement/records.js';
import { StoreClock } from '../settlement/store-clock.js';
import { PaymentWriter } from '../settlement/writer.js';
import { currentTraceparent } from '../telemetry/spans.js';
import { hashCallbackToken, newAttemptId, newCallbackToken, newConversationIdOf, newHostIdNonce } from './ids.js';
import { ReturnUrlMaker, type ReturnUrls } from './return-urls.js';

const KNOWN_VALUES = { paymentMethod: 'CARDPAYMENT', paymentInstrumentType: 'CARD', transactionType: 'SALE' } as const;

/** What a merchant passed in, checked, and when its turn came. */
interface Received<T> {
  readonly input: T;
  readonly now: Date;
}

/** How every payment begins: the input is received, made into a sale and a record, and the record is stored. */
@Injectable()
export class Opening {
  constructor(
    private readonly reader: PaymentReader,
    private readonly writer: PaymentWriter,
    private readonly returnUrls: ReturnUrlMaker,
    private readonly clock: StoreClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {}

  /**
   * Waits for this payment's turn, then checks what the merchant passed in. The input is copied before the first wait,
   * so that later changes by the caller have no effect.
   *
   * @throws PaymentValidationError
   * @throws PaymentStoreError while the store's time is not known
   */
  async receive<T extends DoPaymentDto | HostedPaymentDto>(
    type: ClassConstructor<T>,
    given: unknown,
  ): Promise<Received<T>> {
    const { luhn } = this.settings;
    const copy = copyInput(given);
    await loopTurn.take();
    await this.clock.check();
    const now = this.clock.now();
    return { input: validateCopy(type, copy, { luhn, now }), now };
  }

  newToken(): string {
    return newCallbackToken(this.random);
  }

  /** @param token of the payment's callback; none for a direct payment */
  saleRequest(input: DoPaymentDto, token?: string): SaleRequest {
    return saleRequest(input, this.settings, this.returnUrls.make(input, token));
  }

  /** The same of a sale whose card the buyer types at the gateway. */
  hostedRequest(input: HostedPaymentDto, token: string): HostedRequest {
    return hostedRequest(input, this.settings, this.returnUrls.make(input, token));
  }

  /** @param token as in the sale's URLs, by which the callback finds the payment */
  newPayment(
    kind: PaymentKind,
    sale: SaleRequest | HostedRequest,
    { input, now }: Received<Pick<DoPaymentDto, 'conversationId' | 'reference' | 'allowRepeat' | 'idempotencyKey'>>,
    token?: string,
  ): PaymentRecord {
    const hasToken = token !== undefined && (sale.returnUrl.includes(token) || sale.failUrl.includes(token));
    const tokenHash = hasToken ? hashCallbackToken(token) : null;
    const attemptId = newAttemptId(this.random);
    const ids = { tokenHash, attemptId, hostIdNonce: newHostIdNonce(this.random, input) };
    const record = newPaymentRecord(kind, sale, input, this.settings, now, ids);
    const traceparent = token === undefined ? null : currentTraceparent();
    return traceparent === null ? record : { ...record, traceparent };
  }

  /**
   * Stores a new payment, unless another one stands in its way: then nothing is stored.
   *
   * @returns null when the payment is stored and its request may be sent
   * @throws PaymentDuplicateError, PaymentStateError as {@link PaymentReader.findEarlier}
   * @throws PaymentStoreError
   */
  async open(record: PaymentRecord): Promise<Earlier | null> {
    // What stood in the way may be gone before it is looked up. Then opening is tried once more.
    for (let tries = 0; tries < 2; tries += 1) {
      // A 3D payment takes no lock yet. This look saves its buyer a useless visit to the bank; the claim decides.
      const isHeld = record.referenceLock === null && (await this.reader.findHolder(record)) !== null;
      const taken = isHeld ? 'referenceLock' : await this.writer.open(record);
      const earlier = taken && (await this.reader.findEarlier(record, taken, this.settings));
      if (earlier) return earlier;
      if (taken === null) {
        await loopTurn.take();
        return null;
      }
    }
    throw new PaymentStoreError('opening the payment');
  }
}

/**
 * The sale as the gateway gets it: the input with every default filled in.
 * @throws PaymentValidationError for an amount that is not valid; the input has been checked before, so this is the
 *   last line of defence
 */
export function saleRequest(input: DoPaymentDto, settings: PaymentSettings, urls: ReturnUrls): SaleRequest {
  return {
    ...hostedRequest(input, settings, urls),
    paymentMethod: input.paymentMethod ?? KNOWN_VALUES.paymentMethod,
    cardDetails: input.cardDetails,
    cardHolderInfo: input.cardHolderInfo,
  };
}

/** The same of a sale whose card the buyer types at the gateway. */
export function hostedRequest(
  input: DoPaymentDto | HostedPaymentDto,
  { dialect, language, amountFormat }: PaymentSettings,
  urls: ReturnUrls,
): HostedRequest {
  const { transactionDetails: transaction } = input;
  return {
    conversationId: input.conversationId ?? newConversationIdOf(dialect),
    ...urls,
    language: input.language ?? language,
    paymentInstrumentType: input.paymentInstrumentType ?? KNOWN_VALUES.paymentInstrumentType,
    transactionType: transaction.transactionType ?? KNOWN_VALUES.transactionType,
    installmentCount: transaction.installmentCount ?? 1,
    amount: amountText(transaction, 'transactionDetails.amount', amountFormat),
    currencyCode: transaction.currencyCode,
    vftFlag: transaction.vftFlag,
    pfSubMerchantId: input.extraParameter?.pfSubMerchantId,
  };
}

/**
 * The canonical text of an amount.
 *
 * @param path the field that a refusal names
 * @throws PaymentValidationError
 */
export function amountText(
  { amount, currencyCode }: Pick<TransactionDetailsDto, 'amount' | 'currencyCode'>,
  path: string,
  format: AmountFormat,
): string {
  const canonical = canonicalAmount(amount, currencyCode, format);
  if ('text' in canonical) return canonical.text;
  const { problem } = canonical;
  const message = AMOUNT_TEXTS[problem];
  throw new PaymentValidationError([{ path, rule: problem, message }]);
}

/** What identifies a new payment, besides its conversationId. */
type OpeningIds = Required<Pick<PaymentRecord, 'tokenHash' | 'attemptId' | 'hostIdNonce'>>;

/** The first record of a payment: `charging` or `initiating`. */
export function newPaymentRecord(
  kind: PaymentKind,
  sale: SaleRequest | HostedRequest,
  input: Pick<DoPaymentDto, 'reference' | 'allowRepeat' | 'idempotencyKey'>,
  settings: PaymentSettings,
  now: Date,
  { tokenHash, attemptId, hostIdNonce }: OpeningIds,
): PaymentRecord {
  const state = kind === 'direct' ? 'charging' : 'initiating';
  const owner = { kind, reference: input.reference ?? null, allowRepeat: input.allowRepeat ?? false };
  const expiresAt = kind === '3d' ? new Date(now.getTime() + settings.sessionTtlMs) : null;
  return {
    conversationId: sale.conversationId,
    account: settings.account,
    ...owner,
    state,
    reason: null,
    amount: sale.amount,
    currencyCode: sale.currencyCode,
    installmentCount: sale.installmentCount,
    ...UNANSWERED,
    maskedCardNumber: 'cardDetails' in sale ? maskCardNumber(sale.cardDetails.cardNo) : null,
    createdAt: now,
    updatedAt: now,
    finalizedAt: null,
    version: 1,
    tokenHash,
    idempotencyKey: input.idempotencyKey ?? null,
    referenceLock: referenceLockIn(state, owner),
    hostIdNonce,
    gateway: settings.gateways[0],
    expiresAt,
    // Of a 3D payment, too: a start that failed must not keep its idempotencyKey for as long as the buyer may take.
    dueAt: claimEnd(now, settings.timeoutMs),
    attemptId,
    inquiries: 0,
    notFoundAt: null,
    note: null,
    by: null,
  };
}

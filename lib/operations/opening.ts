import { Injectable } from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import { createHash } from 'node:crypto';
import { IsText } from '../dto/rules.js';
import type { DoPaymentDto, HostedPaymentDto, TransactionDetailsDto } from '../dto/sale.dto.js';
import { copyInput, validateCopy } from '../dto/validate-input.js';
import { PaymentStoreError, PaymentValidationError } from '../errors/payment-errors.js';
import type { GatewayDialect, HostedRequest, SaleRequest } from '../gateway/gateway-dialect.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { AMOUNT_TEXTS, type AmountFormat, canonicalAmount } from '../payment/amount.js';
import { maskCardNumber } from '../payment/kept-text.js';
import { type PaymentKind, type PaymentRecord, UNANSWERED } from '../payment/payment.js';
import { referenceLockIn } from '../payment/transitions.js';
import { loopTurn } from '../runtime/clock.js';
import { notAPromise } from '../runtime/not-a-promise.js';
import { Randomness } from '../runtime/randomness.js';
import { type Earlier, PaymentReader } from '../settlement/records.js';
import { claimEnd, StoreClock } from '../settlement/store-clock.js';
import { PaymentWriter } from '../settlement/writer.js';
import { currentTraceparent } from '../telemetry/spans.js';
import { ReturnUrlMaker } from './return-urls.js';

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

  /**
   * A token for the URLs of a payment: 256 random bits, base64url. It lets its holder deliver the bank's answer for
   * this payment, and do nothing else.
   */
  newToken(): string {
    return this.random.bytes(32).toString('base64url');
  }

  /**
   * The sale as the gateway gets it: the input with every default filled in.
   *
   * @param token of the payment's callback; none for a direct payment
   * @throws PaymentValidationError for URLs that lead to another site; and for an amount that is not valid, although
   *   the input has been checked before: this is the last line of defence
   */
  saleRequest(input: DoPaymentDto, token?: string): SaleRequest {
    return {
      ...this.requestOf(input, token),
      paymentMethod: input.paymentMethod ?? KNOWN_VALUES.paymentMethod,
      cardDetails: input.cardDetails,
      cardHolderInfo: input.cardHolderInfo,
    };
  }

  /** The same of a sale whose card the buyer types at the gateway. */
  hostedRequest(input: HostedPaymentDto, token: string): HostedRequest {
    return this.requestOf(input, token);
  }

  private requestOf(input: DoPaymentDto | HostedPaymentDto, token: string | undefined): HostedRequest {
    const { dialect, language, amountFormat } = this.settings;
    const urls = this.returnUrls.make(input, token);
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
   * The first record of a payment: `charging` or `initiating`.
   *
   * @param token as in the sale's URLs, by which the callback finds the payment
   */
  newPayment(
    kind: PaymentKind,
    sale: SaleRequest | HostedRequest,
    { input, now }: Received<Pick<DoPaymentDto, 'conversationId' | 'reference' | 'allowRepeat' | 'idempotencyKey'>>,
    token?: string,
  ): PaymentRecord {
    const { account, gateways, sessionTtlMs, timeoutMs } = this.settings;
    const state = kind === 'direct' ? 'charging' : 'initiating';
    const { reference = null } = input;
    const allowRepeat = input.allowRepeat ?? false;
    const hasToken = token !== undefined && (sale.returnUrl.includes(token) || sale.failUrl.includes(token));
    const record: PaymentRecord = {
      conversationId: sale.conversationId,
      account,
      kind,
      reference,
      allowRepeat,
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
      tokenHash: hasToken ? hashCallbackToken(token) : null,
      idempotencyKey: input.idempotencyKey ?? null,
      referenceLock: referenceLockIn(state, { kind, reference, allowRepeat }),
      hostIdNonce: newHostIdNonce(this.random, input.conversationId),
      gateway: gateways[0],
      expiresAt: kind === '3d' ? new Date(now.getTime() + sessionTtlMs) : null,
      // Of a 3D payment, too: a start that failed must not keep its idempotencyKey for as long as the buyer may take.
      dueAt: claimEnd(now, timeoutMs),
      attemptId: newAttemptId(this.random),
      inquiries: 0,
      notFoundAt: null,
      note: null,
      by: null,
    };
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

/**
 * A new id of the dialect's, checked like one that is given with an input, before anything is recorded or sent.
 *
 * @throws TypeError for anything else than such a text; a host's own dialect may give anything
 */
export function newConversationIdOf(dialect: Pick<GatewayDialect, 'name' | 'newConversationId'>): string {
  const what = `newConversationId() of the dialect "${dialect.name}"`;
  const id: unknown = notAPromise(dialect.newConversationId(), `what ${what} returned`);
  if (typeof id === 'string' && IsText.isGood(id)) return id;
  throw new TypeError(`${what} returned no text that can be an id: nothing was recorded or sent`);
}

/** SHA-256 of the token, lowercase hex. Only this is stored. */
export function hashCallbackToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

/** 128 random bits that identify the attempt which opened or claimed a payment. */
export function newAttemptId(random: Randomness): string {
  return random.bytes(16).toString('base64url');
}

/**
 * 48 random bits, lowercase hex, for a payment or refund whose id the host chose: see `PaymentRecord.hostIdNonce`.
 *
 * @returns null if the module makes the id
 */
export function newHostIdNonce(random: Randomness, hostId: string | undefined): string | null {
  return hostId === undefined ? null : random.bytes(6).toString('hex');
}

import { Injectable } from '@nestjs/common';
import { type BinSale, BinSaleRules } from '../dto/card.dto.js';
import { IsBin } from '../dto/rules.js';
import { validateInput } from '../dto/validate-input.js';
import { PaymentOverloadError } from '../errors/payment-errors.js';
import { PaymentValidationError } from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { BinRequest } from '../gateway/gateway-dialect.js';
import { type BinOutcome, unknownCard } from '../gateway/readings/card-answer.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { variableOf } from '../payment/account.js';
import { CardBin, CardInstallment } from '../payment/card-bin.js';
import { PaymentClock, withTimeout } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import { countRefused } from '../telemetry/metrics.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { inOperation, noPayment } from '../telemetry/spans.js';
import { amountText, newConversationIdOf } from './opening.js';

type AskedSale = Pick<BinRequest, 'amount' | 'currencyCode'>;

/** What a caller is told, and for how long others are told the same. */
interface Told {
  readonly outcome: BinOutcome;
  readonly keptMs: number;
}

const KEPT_ANSWER_MS = 60_000;
/**
 * Of silence, an error of the gateway's own, and what cannot be read: so that a buyer who waits a little gets an
 * answer.
 */
const KEPT_FAILURE_MS = 2_000;
const NOT_ASKED: Told = { outcome: unknownCard('not_sent'), keptMs: 0 };
const NO_SALE: AskedSale = { amount: null, currencyCode: null };

/** Asks what a card is, by its first digits. There is no payment, and nothing is stored. */
@Injectable()
export class BinInquiries {
  private readonly logger = new PaymentLogger();
  private readonly log: LimitedLog;
  private readonly answers: BinAnswers;
  /** The questions that are being asked, each once, however many callers wait for it. */
  readonly #asking = new Map<string, Promise<BinOutcome>>();

  constructor(
    private readonly gateway: GatewayClient,
    private readonly clock: PaymentClock,
    private readonly settings: PaymentSettings,
  ) {
    this.log = new LimitedLog(clock);
    this.answers = new BinAnswers(clock);
  }

  /** @param sale undefined if the caller does not say what is to be paid */
  check(bin: unknown, sale: BinSale | undefined): Promise<CardBin> {
    const { account } = this.settings;
    return inOperation({ operation: 'checkBin', account }, noPayment, () => this.checkNow(bin, sale));
  }

  private async checkNow(bin: unknown, sale: BinSale | undefined): Promise<CardBin> {
    if (typeof bin !== 'string' || !IsBin.isGood(bin)) {
      const problem = { path: 'bin', rule: IsBin.rule, message: IsBin.texts };
      throw new PaymentValidationError([problem]);
    }
    const asked = sale === undefined ? NO_SALE : this.askedSale(sale);
    return cardBin(bin, await this.outcomeFor(bin, asked));
  }

  private askedSale(sale: BinSale): AskedSale {
    const input = validateInput(BinSaleRules, sale);
    return { amount: amountText(input, 'amount', this.settings.amountFormat), currencyCode: input.currencyCode };
  }

  private async outcomeFor(bin: string, sale: AskedSale): Promise<BinOutcome> {
    const key = JSON.stringify([bin, sale.amount, sale.currencyCode]);
    const known = this.answers.find(key);
    if (known) return known;
    const asking = this.#asking.get(key);
    if (!asking && this.#asking.size >= this.settings.maxBinChecks) throw this.refuse();
    return asking ?? this.ask(key, bin, sale);
  }

  private ask(key: string, bin: string, sale: AskedSale): Promise<BinOutcome> {
    const asked = this.answerAbout(bin, sale);
    const inTime = withTimeout(this.settings.binTimeoutMs, () => asked, this.clock)
      .catch((): Told => ({ outcome: unknownCard('no_answer'), keptMs: KEPT_FAILURE_MS }))
      .then(({ outcome, keptMs }) => {
        if (keptMs > 0) this.answers.keep(key, outcome, keptMs);
        return outcome;
      });
    this.#asking.set(key, inTime);
    // The place is free again once the request has ended, however long a host's signer takes.
    void Promise.all([asked, inTime]).then(() => this.#asking.delete(key));
    return inTime;
  }

  /** Never rejects: a checkout must not fail because nothing is known of a card. */
  private async answerAbout(bin: string, sale: AskedSale): Promise<Told> {
    const { binTimeoutMs, amountFormat, dialect, language } = this.settings;
    try {
      // A host's own dialect may throw.
      const request = { conversationId: newConversationIdOf(dialect), language, bin, ...sale };
      const answer = await this.gateway.checkBin(request, binTimeoutMs, amountFormat);
      if (!answer) return { outcome: unknownCard('unsupported'), keptMs: KEPT_ANSWER_MS };
      if (!answer.sent) return NOT_ASKED;
      return { outcome: answer.outcome, keptMs: answer.isAnswered ? KEPT_ANSWER_MS : KEPT_FAILURE_MS };
    } catch {
      return NOT_ASKED;
    }
  }

  private refuse(): PaymentOverloadError {
    const { account, maxBinChecks } = this.settings;
    const error = new PaymentOverloadError(maxBinChecks, 'maxBinChecks');
    countRefused({ account, operation: 'checkBin' });
    this.log.write(error.code, (end) => {
      const bound = `${maxBinChecks} are being asked about (maxBinChecks, ${variableOf(account, 'maxBinChecks')})`;
      const line = `Account ${account}: checkBin was refused, since ${bound}; nothing was sent.`;
      this.logger.warn(new LogRecord(line + end, { account, operation: 'checkBin', maxBinChecks, code: error.code }));
    });
    return error;
  }
}

/** Each caller gets an object of its own, since another may change it. */
function cardBin(bin: string, outcome: BinOutcome): CardBin {
  const installments = outcome.installments?.map((row) => new CardInstallment(row)) ?? null;
  return new CardBin({ bin, ...outcome, installments });
}

/** A few hundred BINs are most of a country's cards. */
const MAX_ANSWERS = 1_000;

interface Kept {
  /** By the monotonic clock. */
  readonly until: number;
  readonly outcome: BinOutcome;
}

/**
 * What the gateway has said about cards a short time ago, in this process. Beyond a thousand answers, the oldest is
 * forgotten.
 */
export class BinAnswers {
  /** #private, so that `inspect` of the service does not show the answers. */
  readonly #answers = new Map<string, Kept>();

  constructor(private readonly clock: PaymentClock) {}

  find(key: string): BinOutcome | null {
    const kept = this.#answers.get(key);
    if (!kept) return null;
    if (this.clock.monotonic() < kept.until) return kept.outcome;
    this.#answers.delete(key);
    return null;
  }

  keep(key: string, outcome: BinOutcome, keptMs: number): void {
    // So that it becomes the newest.
    this.#answers.delete(key);
    this.#answers.set(key, { until: this.clock.monotonic() + keptMs, outcome });
    if (this.#answers.size <= MAX_ANSWERS) return;
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined) this.#answers.delete(oldest);
  }
}

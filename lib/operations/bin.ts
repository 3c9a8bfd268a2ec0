import { Injectable } from '@nestjs/common';
import { type BinSale, BinSaleRules } from '../dto/card.dto.js';
import { IsBin } from '../dto/rules.js';
import { validateInput } from '../dto/validate-input.js';
import { PaymentValidationError } from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { BinRequest } from '../gateway/gateway-dialect.js';
import { type BinOutcome, unknownCard } from '../gateway/readings/card-answer.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { CardBin, CardInstallment } from '../payment/card-bin.js';
import { PaymentClock, withTimeout } from '../runtime/clock.js';
import { Refusals } from '../settlement/in-flight.js';
import { amountText, newConversationIdOf } from './opening.js';

type AskedSale = Pick<BinRequest, 'amount' | 'currencyCode'>;

/** What a caller is told, and for how long others are told the same. */
interface Told {
  readonly outcome: BinOutcome;
  readonly keptMs: number;
}

/** A question that is being asked, or was a short time ago. */
interface Asked {
  readonly outcome: Promise<BinOutcome>;
  /** Until when others are told the same, by the monotonic clock. */
  keptUntil: number;
}

const KEPT_ANSWER_MS = 60_000;
/**
 * Of silence, an error of the gateway's own, and what cannot be read: so that a buyer who waits a little gets an
 * answer.
 */
const KEPT_FAILURE_MS = 2_000;
/** A few hundred BINs are most of a country's cards. Beyond these, the oldest answer is forgotten. */
const MAX_ANSWERS = 1_000;
const NOT_ASKED: Told = { outcome: unknownCard('not_sent'), keptMs: 0 };
const NO_ANSWER: Told = { outcome: unknownCard('no_answer'), keptMs: KEPT_FAILURE_MS };
const NO_SALE: AskedSale = { amount: null, currencyCode: null };

/** Asks what a card is, by its first digits. There is no payment, and nothing is stored. */
@Injectable()
export class BinInquiries {
  /**
   * Each question once, however many callers wait for its answer. #private, so that `inspect` of the service does not
   * show them.
   */
  readonly #asked = new Map<string, Asked>();
  /** How many are being asked. */
  private asking = 0;

  constructor(
    private readonly gateway: GatewayClient,
    private readonly clock: PaymentClock,
    private readonly refusals: Refusals,
    private readonly settings: PaymentSettings,
  ) {}

  /** @param sale undefined if the caller does not say what is to be paid */
  async check(bin: unknown, sale: BinSale | undefined): Promise<CardBin> {
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

  private outcomeFor(bin: string, sale: AskedSale): Promise<BinOutcome> {
    const key = JSON.stringify([bin, sale.amount, sale.currencyCode]);
    const known = this.#asked.get(key);
    if (known && this.clock.monotonic() < known.keptUntil) return known.outcome;
    if (this.asking >= this.settings.maxBinChecks) {
      throw this.refusals.refuse('checkBin', 'maxBinChecks', 'are being asked about');
    }
    const asked = this.ask(key, bin, sale);
    // So that it becomes the newest.
    this.#asked.delete(key);
    this.#asked.set(key, asked);
    const [oldest = key] = this.#asked.keys();
    if (this.#asked.size > MAX_ANSWERS) this.#asked.delete(oldest);
    return asked.outcome;
  }

  private ask(key: string, bin: string, sale: AskedSale): Asked {
    const answer = this.answerAbout(bin, sale);
    const told = withTimeout(this.settings.binTimeoutMs, () => answer, this.clock).catch(() => NO_ANSWER);
    const asked: Asked = { outcome: told.then(({ outcome }) => outcome), keptUntil: Infinity };
    const kept = told.then(({ keptMs }) => ({ keptMs, until: this.clock.monotonic() + keptMs }));
    this.asking += 1;
    // The place is free again once the request has ended, however long a host's signer takes.
    void Promise.all([kept, answer]).then(([{ keptMs, until }]) => {
      asked.keptUntil = until;
      if (keptMs === 0 && this.#asked.get(key) === asked) this.#asked.delete(key);
      this.asking -= 1;
    });
    return asked;
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
}

/** Each caller gets an object of its own, since another may change it. */
function cardBin(bin: string, outcome: BinOutcome): CardBin {
  const installments = outcome.installments?.map((row) => new CardInstallment(row)) ?? null;
  return new CardBin({ bin, ...outcome, installments });
}

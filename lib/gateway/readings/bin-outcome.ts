import { type AmountFormat, canonicalAmount, compareAmounts } from '../../payment/amount.js';
import { currencyDecimals } from '../../payment/currency.js';
import { CARD_TYPES, type CardBin, CardInstallment, type CardType } from '../../payment/card-bin.js';
import type { Masker } from '../../payment/kept-text.js';
import type { BinRequest, BinResult, InstallmentRow, ResultCodeSets } from '../gateway-dialect.js';
import { keptCode } from '../kept-result.js';
import { idOf } from './facts.js';
import { readShownAmount } from './shown-amount.js';

/** What an answer tells of a card. */
export type BinOutcome = Omit<CardBin, 'bin'>;

/** Why there is no answer to go by. */
export type BinFailure =
  'unsupported' | 'not_sent' | 'no_answer' | 'server_error' | 'refused' | 'unreadable' | 'conversation_mismatch';

const FAILURE_TEXTS: Readonly<Record<BinFailure, string>> = {
  unsupported: 'The dialect has no such operation.',
  not_sent: 'The gateway could not be asked; nothing was sent.',
  no_answer: 'The gateway gave no answer in time.',
  server_error: 'The gateway answered with an error of its own.',
  refused: 'The gateway refused the request.',
  unreadable: "The gateway's answer cannot be read.",
  conversation_mismatch: "The gateway's answer is about another question.",
};

/** A year of monthly instalments is usual, three years are the most; the interface shows no bounds. */
const MAX_COUNT = 36;
const MAX_ROWS = 100;
const MAX_NAME_LENGTH = 80;

/** By which an answer is judged. */
export interface BinRules {
  readonly codes: ResultCodeSets;
  readonly amountFormat: AmountFormat;
  /** Keeps the credentials out of the texts. */
  readonly masker: Masker;
}

/** Nothing is known of the card. */
export function unknownCard(code: string, message: string | null): BinOutcome {
  return { bank: null, type: null, brand: null, commercial: null, installments: null, code, message };
}

/** Nothing is known of the card, since there is no answer to go by. */
export function noAnswerAboutCard(failure: BinFailure): BinOutcome {
  return unknownCard(failure, FAILURE_TEXTS[failure]);
}

/**
 * Decides what an answer to a question about a BIN tells of the card. An answer that refuses, or is about another
 * question, tells nothing.
 *
 * @param result null if the answer cannot be read
 */
export function binOutcome(
  status: number,
  result: BinResult | null,
  request: BinRequest,
  { codes, amountFormat, masker }: BinRules,
): BinOutcome {
  const failure = status >= 200 && status < 300 ? null : status < 500 ? 'refused' : 'server_error';
  if (!result) return noAnswerAboutCard(failure ?? 'unreadable');
  const said = textOf(result.code);
  const code = said?.includes(request.bin) ? null : keptCode(said, masker, codes);
  const message = masker.keptMessage(result.message);
  if (failure) return code === null ? noAnswerAboutCard(failure) : unknownCard(code, message);
  if (idOf(result, request) === 'foreign' || isOtherBin(result, request)) {
    return noAnswerAboutCard('conversation_mismatch');
  }
  // An answer without any code may be one that only tells of the card.
  const saidCodes = [said, textOf(result.resultCode)].filter((each) => each !== null);
  const isApproved = saidCodes.every((each) => codes.approvedCodes.has(each) || codes.refundApprovedCodes?.has(each));
  const isCodeUnreadable = result.unreadable?.some((field) => field === 'code' || field === 'resultCode') ?? false;
  if (isCodeUnreadable) return noAnswerAboutCard('unreadable');
  if (!isApproved) return code === null ? noAnswerAboutCard('refused') : unknownCard(code, message);
  const card = {
    bank: masker.keptMessage(result.bank, MAX_NAME_LENGTH),
    type: typeOf(result.type),
    brand: masker.keptMessage(result.brand, MAX_NAME_LENGTH),
    commercial: typeof result.commercial === 'boolean' ? result.commercial : null,
    installments: installmentsOf(result, request, amountFormat),
  };
  const isEmpty = Object.values(card).every((value) => value === null);
  // An empty object, or the answer of another service.
  if (isEmpty && saidCodes.length === 0) return noAnswerAboutCard('unreadable');
  return { ...card, code, message };
}

/** A dialect in plain JavaScript may return anything. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function typeOf(value: unknown): CardType | null {
  return CARD_TYPES.find((type) => type === value) ?? null;
}

/** Whether the answer names other first digits. It may name fewer or more of them than were asked about. */
function isOtherBin(result: BinResult, { bin }: BinRequest): boolean {
  const shown = textOf(result.bin);
  if (shown === null || !/^\d{4,19}$/.test(shown)) return false;
  return !(shown.startsWith(bin) || bin.startsWith(shown));
}

/** A row that is no offer is left out, and so are rows that contradict each other. Totals of another sale are null. */
function installmentsOf(result: BinResult, request: BinRequest, format: AmountFormat): CardInstallment[] | null {
  const given: unknown = result.installments;
  if (!Array.isArray(given)) return null;
  const rows = given.slice(0, MAX_ROWS) as readonly InstallmentRow[];
  if (rows.length > 0 && rows.every((row) => countOf(row) === null)) return null;
  const read = rows.map((row) => readRow(row, request)).filter((row) => row !== null);
  const counts = [...new Set(read.map(({ count }) => count))].sort((one, other) => one - other);
  const single = counts.flatMap((count) => {
    const [first, ...others] = read.filter((row) => row.count === count) as [CardInstallment, ...CardInstallment[]];
    return others.every(({ total }) => isSameAmount(first.total, total)) ? [first] : [];
  });
  const isAboutSale = isOfSale(result, single, request);
  return single.map(({ count, total }) => {
    return new CardInstallment({ count, total: isAboutSale ? inCurrency(total, request.currencyCode, format) : null });
  });
}

function isSameAmount(one: string | null, other: string | null): boolean {
  return one === null || other === null ? one === other : compareAmounts(one, other) === 0;
}

/** @returns null for a row without a count, or with a total that is no price */
function readRow(row: InstallmentRow, { currencyCode }: BinRequest): CardInstallment | null {
  const count = countOf(row);
  const text = textOf(row?.total);
  const total = text && readShownAmount(text, currencyCode);
  const isNoPrice = text?.includes('-') === true || (total !== null && !/[1-9]/.test(total));
  return count === null || isNoPrice ? null : new CardInstallment({ count, total });
}

function countOf(row: InstallmentRow): number | null {
  const text = textOf(row?.count)?.trim() ?? '';
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MAX_COUNT ? count : null;
}

/**
 * Whether the totals are of the sale that was asked about. A gateway that does not look at the amount may show them for
 * another one.
 */
function isOfSale(result: BinResult, rows: readonly CardInstallment[], { amount, currencyCode }: BinRequest): boolean {
  if (amount === null) return true;
  const price = textOf(result.amount);
  const shown = price === null ? null : readShownAmount(price, currencyCode);
  if (shown !== null && compareAmounts(shown, amount) !== 0) return false;
  return rows.every(({ count, total }) => {
    if (total === null) return true;
    const difference = compareAmounts(total, amount) ?? -1;
    return count === 1 ? difference === 0 : difference >= 0;
  });
}

/** @returns null if it has more decimals than the currency has */
function inCurrency(total: string | null, currencyCode: number | null, format: AmountFormat): string | null {
  if (total === null || currencyCode === null) return total;
  const [whole = '', fraction = ''] = total.split('.');
  const decimals = currencyDecimals(currencyCode);
  if (/[1-9]/.test(fraction.slice(decimals))) return null;
  const kept = fraction.slice(0, decimals);
  const canonical = canonicalAmount(kept === '' ? whole : `${whole}.${kept}`, currencyCode, format);
  return 'text' in canonical ? canonical.text : null;
}

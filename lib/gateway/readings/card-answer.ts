import { type AmountFormat, canonicalAmount, compareAmounts } from '../../payment/amount.js';
import { CARD_TYPES, type CardBin, CardInstallment } from '../../payment/card-bin.js';
import type { Masker } from '../../payment/kept-text.js';
import type { PaymentReason } from '../../payment/payment.js';
import type { BinRequest, BinResult, InstallmentRow } from '../gateway-dialect.js';

export type BinOutcome = Omit<CardBin, 'bin'>;
type CardTold = Omit<BinOutcome, 'code' | 'message'>;

/** Why there is no answer to go by. */
const FAILURES = {
  unsupported: 'The dialect has no such operation.',
  not_sent: 'The gateway could not be asked; nothing was sent.',
  no_answer: 'The gateway gave no answer in time.',
  server_error: 'The gateway answered with an error of its own.',
  refused: 'The gateway refused the request.',
  unreadable: "The gateway's answer cannot be read.",
  conversation_mismatch: "The gateway's answer is about another question.",
} as const;

/** A year of monthly instalments is usual, three years are the most; the interface shows no bounds. */
const MAX_COUNT = 36;
const MAX_ROWS = 100;
const MAX_NAME_LENGTH = 80;
const NOTHING_TOLD: CardTold = { bank: null, type: null, brand: null, commercial: null, installments: null };

/** Nothing is known of the card, since there is no answer to go by. */
export function unknownCard(failure: keyof typeof FAILURES): BinOutcome {
  return { ...NOTHING_TOLD, code: failure, message: FAILURES[failure] };
}

/** What a judged answer tells of a card. `reason` is null if it is believed, `card` is `other` if of other digits. */
export function binOutcome(
  reason: PaymentReason | null,
  { code, message }: Pick<BinOutcome, 'code' | 'message'>,
  card: CardTold | 'other' | null,
): BinOutcome {
  if (reason === 'conversation_mismatch' || card === 'other') return unknownCard('conversation_mismatch');
  if (code !== null) return { ...NOTHING_TOLD, ...(reason === null && card), code, message };
  if (reason === null) return card ? { ...card, code, message } : unknownCard('unreadable');
  return unknownCard(reason in FAILURES ? (reason as keyof typeof FAILURES) : 'refused');
}

/** Reads what an answer tells of a card; null if it tells nothing. A host's own dialect may give anything. */
export function cardIn(
  result: BinResult,
  { bin, currencyCode }: BinRequest,
  format: AmountFormat,
  masker: Masker,
): CardTold | 'other' | null {
  const shown = String(result.bin ?? bin);
  if (/^\d{4,19}$/.test(shown) && !shown.startsWith(bin) && !bin.startsWith(shown)) return 'other';
  const card = {
    bank: masker.keptMessage(result.bank, MAX_NAME_LENGTH),
    type: CARD_TYPES.find((type) => type === result.type) ?? null,
    brand: masker.keptMessage(result.brand, MAX_NAME_LENGTH),
    commercial: typeof result.commercial === 'boolean' ? result.commercial : null,
    installments: installmentsIn(result.installments, currencyCode, format),
  };
  return Object.values(card).some((value) => value !== null) ? card : null;
}

/** A row without a count is left out; a total that is no price, or differs between two rows of a count, is null. */
function installmentsIn(given: unknown, currencyCode: number | null, format: AmountFormat): CardInstallment[] | null {
  if (!Array.isArray(given)) return null;
  const totals = new Map<number, string | null>();
  for (const row of given.slice(0, MAX_ROWS) as readonly (InstallmentRow | null)[]) {
    const count = /^\d{1,2}$/.test(row?.count ?? '') ? Number(row?.count) : 0;
    if (count < 1 || count > MAX_COUNT) continue;
    const total = totalIn(row?.total, currencyCode, format);
    totals.set(count, totals.has(count) && totals.get(count) !== total ? null : total);
  }
  if (given.length > 0 && totals.size === 0) return null;
  const rows = [...totals].map(([count, total]) => new CardInstallment({ count, total }));
  return rows.sort((one, other) => one.count - other.count);
}

/** A plain decimal above 0, with the decimals of its currency where that is known. */
function totalIn(text: unknown, currencyCode: number | null, format: AmountFormat): string | null {
  if (typeof text !== 'string' || !/^\d{1,12}(?:\.\d{1,8})?$/.test(text) || compareAmounts(text, '0') === 0)
    return null;
  if (currencyCode === null) return text;
  const canonical = canonicalAmount(text, currencyCode, format);
  return 'text' in canonical ? canonical.text : null;
}

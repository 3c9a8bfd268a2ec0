import { isExpired, majorUnits, minorUnits } from './wire-values.js';
import type { GatewayRequest } from './requests.js';

/** A test card of the service's public sandbox. */
export interface TestCard {
  readonly cardNo: string;
  /** MMyy */
  readonly expDate: string;
  readonly cvv: string;
}

/** The test cards that the service publishes. They are approved until they expire, unless the amount says otherwise. */
export const TEST_CARDS: readonly TestCard[] = [
  { cardNo: '5246776356903508', expDate: '1230', cvv: '792' },
  { cardNo: '4691810771946876', expDate: '1148', cvv: '858' },
  { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
  { cardNo: '5269737320050521', expDate: '1230', cvv: '000' },
  { cardNo: '5413330057004112', expDate: '1226', cvv: '312' },
];

const A_MONTH_MS = 31 * 86_400_000;

/** The {@link TEST_CARDS} that do not expire within a month; the bank declines those that have expired. */
export function currentTestCards(now = new Date()): readonly TestCard[] {
  const inAMonth = new Date(now.getTime() + A_MONTH_MS);
  return TEST_CARDS.filter(({ expDate }) => !isExpired(expDate, inAMonth));
}

/** What the simulator tells of a test card. The banks are invented. */
interface SimulatedCard {
  readonly bank: string;
  readonly type: 'CREDIT' | 'DEBIT' | 'PREPAID';
  readonly brand: 'VISA' | 'MASTERCARD';
  readonly isCommercial: boolean;
}

const CARD = { bank: 'Deneme Bankası', type: 'CREDIT', brand: 'MASTERCARD', isCommercial: false } as const;

/** By the first six digits of the test cards. */
const CARDS_BY_BIN: Readonly<Record<string, SimulatedCard>> = {
  524677: CARD,
  469181: { ...CARD, bank: 'Örnek Bankası', brand: 'VISA', isCommercial: true },
  450803: { ...CARD, bank: 'Örnek Bankası', brand: 'VISA' },
  526973: { ...CARD, type: 'DEBIT' },
  541333: { ...CARD, type: 'PREPAID' },
};

/** In how many instalments a credit card can pay. */
export const INSTALMENT_COUNTS: readonly number[] = [1, 2, 3, 6, 9, 12];

/** By the first digits of a card; undefined for one that is no test card. */
export function simulatedCardOf(cardNo: string): SimulatedCard | undefined {
  return CARDS_BY_BIN[cardNo.slice(0, 6)];
}

/** How the bank answers DoPayment and Auth3d when the amount ends in certain digits. */
export interface MagicAmount {
  /** The two digits after the point. */
  readonly digits: string;
  readonly code: string;
  readonly charged: 'all' | 'half' | 'nothing';
  readonly pace: 'at once' | 'slow' | 'never';
  /** The code of a later CheckPayment; null when it does not find the payment. */
  readonly inquiry: string | null;
  readonly meaning: string;
}

const APPROVED = { digits: '', code: 'B0000', charged: 'all', pace: 'at once', inquiry: 'B0000', meaning: '' } as const;

/** The amounts that have a special answer. All others are approved. */
export const MAGIC_AMOUNTS: readonly MagicAmount[] = [
  declined('05', 'B0005', 'declined: do not honor'),
  declined('12', 'B0012', 'declined: invalid transaction'),
  declined('41', 'B0041', 'declined: lost card'),
  declined('51', 'B0051', 'declined: insufficient funds'),
  declined('54', 'B0054', 'declined: expired card'),
  declined('57', 'B0057', 'declined: not permitted to the cardholder'),
  { ...declined('91', 'B0091', 'indeterminate code, not charged, unknown to CheckPayment'), inquiry: null },
  { ...APPROVED, digits: '96', code: 'B0096', meaning: 'indeterminate code, yet charged' },
  { ...declined('77', 'B7777', 'an unheard-of code, not charged, unknown to CheckPayment'), inquiry: null },
  { ...declined('31', 'B0010', 'partial approval: half is charged'), charged: 'half' },
  { ...APPROVED, digits: '61', pace: 'slow', meaning: 'approved by a slow bank' },
  { ...APPROVED, digits: '62', charged: 'nothing', pace: 'never', inquiry: null, meaning: 'no answer, not charged' },
  { ...APPROVED, digits: '63', pace: 'never', meaning: 'no answer, yet charged' },
];

/** How the gateway answers a refund when its amount ends in certain digits, or a void when the sale's does. */
export interface MagicRefund {
  /** The two digits after the point. A sale with them is approved. */
  readonly digits: string;
  readonly code: string;
  readonly givesBack: boolean;
  readonly pace: MagicAmount['pace'];
  /** The code of a later CheckPayment, if inquiries know refunds; null when it does not find the refund. */
  readonly inquiry: string | null;
  readonly meaning: string;
}

/** The vendor's public sample of a refund's answer shows `00`, not `B0000`. */
const GIVEN_BACK = { digits: '', code: '00', givesBack: true, pace: 'at once', inquiry: 'B0000', meaning: '' } as const;
const NOT_GIVEN_BACK = { ...GIVEN_BACK, givesBack: false, inquiry: null } as const;

/** The amounts of refunds that have a special answer. All others are given back, as far as the charge covers them. */
export const MAGIC_REFUNDS: readonly MagicRefund[] = [
  { ...NOT_GIVEN_BACK, digits: '80', code: 'B0005', inquiry: 'B0005', meaning: 'declined: do not honor' },
  { ...NOT_GIVEN_BACK, digits: '81', code: 'B0091', meaning: 'indeterminate code, not given back' },
  { ...GIVEN_BACK, digits: '82', code: 'B0096', meaning: 'indeterminate code, yet given back' },
  { ...NOT_GIVEN_BACK, digits: '83', pace: 'never', meaning: 'no answer, not given back' },
  { ...GIVEN_BACK, digits: '84', pace: 'never', meaning: 'no answer, yet given back' },
  { ...NOT_GIVEN_BACK, digits: '85', code: 'B7777', meaning: 'an unheard-of code, not given back' },
  { ...GIVEN_BACK, digits: '88', code: 'B0000', meaning: 'given back, with the code of an approved sale' },
  { ...GIVEN_BACK, digits: '89', pace: 'slow', meaning: 'given back by a slow bank' },
];

/** How the gateway answers a refund that the charge covers. */
export function magicRefundOf(amount: string): MagicRefund {
  return MAGIC_REFUNDS.find(({ digits }) => digits === digitsOf(amount)) ?? GIVEN_BACK;
}

/** The effect of a code that is typed on the bank's page. */
export interface MagicPassword {
  readonly code: string;
  readonly verified: boolean;
  /** Which of the merchant's URLs the callback goes to. */
  readonly to: 'returnUrl' | 'failUrl';
  /** How often the callback is sent. */
  readonly copies: 0 | 1 | 2;
  readonly late: boolean;
  readonly meaning: string;
}

/** The 3D password that verifies. */
export const SMS_CODE = '123456';

const VERIFIED = { verified: true, to: 'returnUrl', copies: 1, late: false } as const;

/** The 3D passwords that the bank knows. Any other is wrong. */
export const MAGIC_PASSWORDS: readonly MagicPassword[] = [
  { ...VERIFIED, code: SMS_CODE, meaning: 'verified' },
  { ...VERIFIED, code: '222222', copies: 2, meaning: 'verified, callback sent twice' },
  { ...VERIFIED, code: '333333', late: true, meaning: 'verified, callback sent late' },
  { ...VERIFIED, code: '444444', to: 'failUrl', meaning: 'verified, callback to failUrl' },
  { ...VERIFIED, code: '555555', verified: false, meaning: 'failed, callback to returnUrl' },
  { ...VERIFIED, code: '666666', copies: 0, meaning: 'verified, no callback at all' },
];

/** What the bank decides about a sale. */
export interface BankVerdict {
  readonly code: string;
  /** Major units; null when no money moves. */
  readonly chargedAmount: string | null;
  readonly pace: MagicAmount['pace'];
  readonly inquiry: string | null;
}

type BankSale = Pick<GatewayRequest, 'amount' | 'currencyCode' | 'expDate'>;

/** The amount decides. Otherwise a card that has expired is declined with B0054. */
export function bankVerdict(sale: BankSale, now: Date): BankVerdict {
  const magic = MAGIC_AMOUNTS.find(({ digits }) => digits === digitsOf(sale.amount));
  if (!magic && isExpired(sale.expDate, now)) return verdictOf(declined('', 'B0054', ''), sale);
  return verdictOf(magic ?? APPROVED, sale);
}

/**
 * At the gateway's own page only {@link TEST_CARDS} can pay, so that a buyer can be declined and then pay with another
 * card; any other card is declined with B0014, whatever the amount is.
 */
export function pageVerdict(cardNo: string, sale: BankSale, now: Date): BankVerdict {
  const isTestCard = TEST_CARDS.some((card) => card.cardNo === cardNo);
  return isTestCard ? bankVerdict(sale, now) : verdictOf(declined('', 'B0014', ''), sale);
}

/** The digits after the point: `50` of 0.5. */
function digitsOf(amount: string): string | undefined {
  return amount.split('.')[1]?.padEnd(2, '0');
}

function verdictOf(row: MagicAmount, sale: BankSale): BankVerdict {
  const half = majorUnits(minorUnits(sale.amount, sale.currencyCode) / 2n, sale.currencyCode);
  const chargedAmount = { all: sale.amount, half, nothing: null }[row.charged];
  return { code: row.code, chargedAmount, pace: row.pace, inquiry: row.inquiry };
}

function declined(digits: string, code: string, meaning: string): MagicAmount {
  return { digits, code, charged: 'nothing', pace: 'at once', inquiry: code, meaning };
}

const CODE_TEXTS: Record<string, { en: string; tr: string }> = {
  '00': { en: 'Approved', tr: 'Onaylandı' },
  B0000: { en: 'Approved', tr: 'Onaylandı' },
  B0005: { en: 'Do not honor', tr: 'Red' },
  B0010: { en: 'Partial Approval', tr: 'İşlem kısmen onaylandı.' },
  B0012: { en: 'Invalid transaction', tr: 'Hatalı işlem' },
  B0013: { en: 'Invalid amount', tr: 'Hatalı miktar' },
  B0014: { en: 'Invalid card number', tr: 'Hatalı kart no' },
  B0017: { en: 'Customer cancellation', tr: 'Müşteri iptali.' },
  B0021: { en: 'No action taken', tr: 'İşlem yapılmadı.' },
  B0028: { en: 'Original is declined', tr: 'Orijinal teklif reddedildi.' },
  B0029: { en: 'Original not found', tr: 'Orijinal teklif bulunamadı.' },
  B0041: { en: 'Lost card', tr: 'Kayıp kart.' },
  B0051: { en: 'Insufficient funds/over credit limit', tr: 'Yetersiz hesap.' },
  B0054: { en: 'Expired card', tr: 'Süresi geçmiş kart.' },
  B0055: { en: 'Invalid PIN', tr: 'Şifre hatalı.' },
  B0057: {
    en: 'Transaction not permitted to issuer/cardholder',
    tr: 'Kart sahibine/kartı veren kuruluşa işlem izni verilmedi.',
  },
  B0084: { en: 'Invalid Authorization Life Cycle', tr: 'Geçersiz yetkilendirme yaşam döngüsü.' },
  B0091: {
    en: 'Authorization System or issuer system inoperative',
    tr: 'Yetkilendirme sistemi veya kartı çıkaran banka sistemi çalışmıyor.',
  },
  B0096: { en: 'System error', tr: 'Sistem hatası.' },
  B0100: { en: 'PaymentID is not found', tr: 'Ödeme kimliği bulunamadı.' },
  B0101: { en: 'PaymentID is invalid', tr: 'Ödeme kimliği geçersiz.' },
};

/** The text that goes with a result code. */
export function codeText(code: string, language: string): string {
  return CODE_TEXTS[code]?.[language === 'tr' ? 'tr' : 'en'] ?? 'Unknown';
}

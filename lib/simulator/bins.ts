import { JsonNumber, type JsonObject, majorUnits, minorUnits } from './wire-values.js';
import type { GatewayRequest } from './requests.js';
import type { SimulatorSettings } from './simulator-options.js';

/** What the simulator tells of a test card. The banks are invented. */
interface SimulatedCard {
  readonly bank: string;
  readonly type: 'CREDIT' | 'DEBIT' | 'PREPAID';
  readonly brand: 'VISA' | 'MASTERCARD';
  readonly isCommercial: boolean;
}

const CARD = { bank: 'Deneme Bankası', type: 'CREDIT', brand: 'MASTERCARD', isCommercial: false } as const;

/** By the first six digits of the test cards. */
const CARDS: Readonly<Record<string, SimulatedCard>> = {
  524677: CARD,
  469181: { ...CARD, bank: 'Örnek Bankası', brand: 'VISA', isCommercial: true },
  450803: { ...CARD, bank: 'Örnek Bankası', brand: 'VISA' },
  526973: { ...CARD, type: 'DEBIT' },
  541333: { ...CARD, type: 'PREPAID' },
};

/** In how many instalments a credit card can pay. */
export const INSTALMENT_COUNTS: readonly number[] = [1, 2, 3, 6, 9, 12];

/**
 * The fields of CheckBin's answer besides its code; none for a card that is no test card. Their names are unverified:
 * `cardBrand`, `installmentList`, `installmentCount` and `installmentTotalAmount` are of a like answer of the vendor's
 * panel, the others invented.
 */
export function binFields(request: GatewayRequest, settings: SimulatorSettings): JsonObject {
  const card = CARDS[request.bin.slice(0, 6)];
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
export function chargedFor(sale: GatewayRequest, settings: SimulatorSettings): string {
  const card = CARDS[sale.maskedCardNumber.slice(0, 6)];
  return card?.type === 'CREDIT' ? totalOf(sale, sale.installmentCount, settings) : sale.amount;
}

/** The amount with the fee of so many instalments, rounded half up; as it was written if there is no fee. */
function totalOf(
  { amount, currencyCode }: GatewayRequest,
  count: number,
  { installmentRates }: SimulatorSettings,
): string {
  const [whole = '0', fraction = ''] = (installmentRates[count] ?? '0').split('.');
  const rate = BigInt(whole + fraction);
  if (rate === 0n) return amount;
  const hundred = 100n * 10n ** BigInt(fraction.length);
  const price = minorUnits(amount, currencyCode);
  return majorUnits(price + (price * rate * 2n + hundred) / (hundred * 2n), currencyCode);
}

import type { CardOffer, OfferedInstalments } from '../checkout/card-offer.js';
import { decimalText, displayKurus, displayMoney, kurusOf } from '../money.js';
import type { Order } from '../orders/order.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';

/** An option of the list of instalments. */
export interface Choice {
  readonly count: number;
  readonly text: string;
  /** What the buyer pays in all, for the button. */
  readonly pay: string;
  /** What the script shows below the list once this is chosen; empty if there is no fee. */
  readonly fee: string;
}

/** The options for this card; payment in full alone while no card is known. */
export function choicesOf({ totalKurus }: Order, offer: CardOffer | null, language: Language): readonly Choice[] {
  const { checkout } = TEXTS[language];
  return (offer?.instalments ?? [{ count: 1, total: decimalText(totalKurus) }]).map(({ count, total }) => {
    const kurus = total === null ? totalKurus : kurusOf(total);
    const fee = kurus - totalKurus;
    return {
      count,
      text: textOf({ count, total }, fee, language),
      fee: fee === 0 ? '' : checkout.feeOf(displayKurus(fee, language)),
      pay: checkout.pay(displayKurus(kurus, language)),
    };
  });
}

function textOf({ count, total }: OfferedInstalments, fee: number, language: Language): string {
  const { checkout } = TEXTS[language];
  if (count === 1) return checkout.once;
  if (total === null) return checkout.timesUnknown(count);
  const kurus = kurusOf(total);
  const each = displayKurus((kurus - (kurus % count)) / count, language);
  return fee === 0 ? checkout.times(count, each) : checkout.timesWithFee(count, displayMoney(total, language));
}

/** What the shop says about the card: its bank, its kind, and whether its instalments are known. */
export function cardText(offer: CardOffer | null, language: Language): string {
  const { checkout } = TEXTS[language];
  if (!offer) return checkout.cardHint;
  const { bank, type, brand } = offer.card;
  const known = [bank, brand, type && checkout.cardTypes[type]].filter((part) => part !== null).join(' · ');
  const isFeeUnknown = offer.instalments.some(({ count, total }) => count > 1 && total === null);
  const more = isFeeUnknown ? checkout.feeUnknown : offer.instalments.length === 1 ? checkout.onlyOnce : null;
  return [known, more].filter(Boolean).join('. ');
}

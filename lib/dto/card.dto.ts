import { Transform } from 'class-transformer';
import { maskCardNumber } from '../payment/kept-text.js';
import type { Translations } from '../runtime/text-language.js';
import {
  Field,
  IsAmount,
  IsBin,
  IsCardNumber,
  IsCurrencyCode,
  IsExpiry,
  IsNotExpired,
  IsSecurityCode,
  KeepOriginal,
  PassesLuhn,
  ReadAs,
  readCardNumber,
  readExpiry,
} from './rules.js';

/**
 * The groups of the two checks that a host may want to leave out of its own `ValidationPipe`. A pipe without groups
 * runs both; `new ValidationPipe({ always: true, groups: [CARD_CHECKS.expiry] })` leaves out Luhn.
 */
export const CARD_CHECKS = { luhn: 'payment.luhn', expiry: 'payment.expiry' } as const;

const MASKED = '****';

/** The three fields of a card. {@link CardDetailsDto} also masks them when it is printed. */
export type CardDetails = Pick<CardDetailsDto, 'cardNo' | 'expDate' | 'cvv'>;

/**
 * A card (docs/interface.md). Its fields can be read, but when it is printed by `JSON.stringify`, `util.inspect`,
 * `console.log`, `instanceToPlain` or a template, it shows at most the first six and last four digits, no expiry and no
 * code. A plain object, a copy by spread and `console.dir` are not protected in this way. A `ValidationPipe` without
 * `transform` may give a controller a masked copy, which `PaymentService` refuses.
 */
export class CardDetailsDto {
  /** 12 to 19 digits; the spaces and dashes that people type between them are left out. */
  @Field(ReadAs(readCardNumber), IsCardNumber(), PassesLuhn({ groups: [CARD_CHECKS.luhn] }))
  @Transform(({ value }) => maskedNumber(value), { toPlainOnly: true })
  cardNo!: string;

  /**
   * MMyy, or as people type it: `12/36`, `12 / 36`, `12/2036`, `12-36`, `122036`, `1/36`. The card is good until its
   * month has ended everywhere on Earth.
   */
  @Field(ReadAs(readExpiry), IsExpiry(), IsNotExpired({ groups: [CARD_CHECKS.expiry] }))
  @Transform(() => MASKED, { toPlainOnly: true })
  expDate!: string;

  /** Security code: 3 or 4 digits. */
  @Field(KeepOriginal(), IsSecurityCode())
  @Transform(() => MASKED, { toPlainOnly: true })
  cvv!: string;

  /** The masked number. */
  toString(): string {
    return maskedNumber(this.cardNo);
  }
}

// These are not declared as members, so that TypeScript accepts a plain object as a card.
Object.defineProperties(CardDetailsDto.prototype, {
  toJSON: {
    value(this: CardDetailsDto): CardDetails {
      return maskedCard(this);
    },
  },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: CardDetailsDto) {
      return `CardDetailsDto ${JSON.stringify(this)}`;
    },
  },
});

/** The card as it may be shown. */
export function maskedCard({ cardNo }: CardDetails): CardDetails {
  return { cardNo: maskedNumber(cardNo), expDate: MASKED, cvv: MASKED };
}

function maskedNumber(cardNo: unknown): string {
  return typeof cardNo === 'string' ? maskCardNumber(cardNo) : MASKED;
}

export function isMaskedCard({ expDate, cvv }: Partial<CardDetails>): boolean {
  return expDate === MASKED && cvv === MASKED;
}

export const MASKED_CARD_TEXTS: Translations = {
  en:
    'holds a masked card, as JSON and instanceToPlain print it: give your ValidationPipe `transform: true`, and pass ' +
    'the object that your controller received, not a copy',
  tr:
    'JSON ve instanceToPlain çıktısındaki gibi maskelenmiş bir kart içeriyor: ValidationPipe’a `transform: true` ' +
    'ekleyin ve bir kopyayı değil, controller’ınıza gelen nesneyi verin',
};

/**
 * The part of a question about a card that a buyer's browser may send: the class for `@Body()` of a route that calls
 * `PaymentService.checkBin`. Use POST, since addresses are logged.
 *
 * @experimental
 */
export class CheckBinDto {
  /** The first 6 to 8 digits of the card number, and no more of it. */
  @Field(IsBin())
  bin!: string;
}

/**
 * What the buyer is to pay, for `PaymentService.checkBin`. **It comes from the merchant's order, never from a buyer's
 * browser.**
 *
 * @experimental
 */
export interface BinSale {
  /** Major units: `'149.90'` or 149.9, as in a payment. */
  readonly amount: string | number;
  /** The ISO 4217 number of a currency in use: 949 is the Turkish lira (TRY). */
  readonly currencyCode: number;
}

/** The rules of {@link BinSale}. */
export class BinSaleRules implements BinSale {
  @Field(IsAmount())
  readonly amount!: string | number;

  @Field(IsCurrencyCode())
  readonly currencyCode!: number;
}

import { Transform } from 'class-transformer';
import { AsGiven, AsTyped, readCardNumber, readExpiry } from './rules/reading.rules.js';
import { MASKED_VALUE, maskedCard, maskedCardNumber } from './masked-card.js';
import { IsCardNumber, IsExpiry, IsNotExpired, IsSecurityCode, PassesLuhn } from './rules/card.rules.js';
import { IsRequired } from './rules/rule.js';

/**
 * The groups of the two checks that a host may want to leave out of its own `ValidationPipe`. A pipe without groups
 * runs both; `new ValidationPipe({ always: true, groups: [CARD_CHECKS.expiry] })` leaves out Luhn.
 */
export const CARD_CHECKS = { luhn: 'payment.luhn', expiry: 'payment.expiry' } as const;

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
  @IsCardNumber()
  @PassesLuhn({ groups: [CARD_CHECKS.luhn] })
  @IsRequired()
  @AsTyped(readCardNumber)
  @Transform(({ value }) => maskedCardNumber(value), { toPlainOnly: true })
  cardNo!: string;

  /**
   * MMyy, or as people type it: `12/36`, `12 / 36`, `12/2036`, `12-36`, `122036`, `1/36`. The card is good until its
   * month has ended everywhere on Earth.
   */
  @IsExpiry()
  @IsNotExpired({ groups: [CARD_CHECKS.expiry] })
  @IsRequired()
  @AsTyped(readExpiry)
  @Transform(() => MASKED_VALUE, { toPlainOnly: true })
  expDate!: string;

  /** Security code: 3 or 4 digits. */
  @IsSecurityCode()
  @IsRequired()
  @AsGiven()
  @Transform(() => MASKED_VALUE, { toPlainOnly: true })
  cvv!: string;

  /** The masked number. */
  toString(): string {
    return maskedCardNumber(this.cardNo);
  }
}

// These are not declared as members, so that TypeScript accepts a plain object as a card.
Object.defineProperties(CardDetailsDto.prototype, {
  toJSON: { value: masked },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: CardDetailsDto) {
      return `CardDetailsDto ${JSON.stringify(this)}`;
    },
  },
});

function masked(this: CardDetailsDto): CardDetails {
  return maskedCard(this);
}

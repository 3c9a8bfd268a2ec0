import { Transform } from 'class-transformer';
import { maskCardNumber } from '../payment/card-mask.js';
import { IsCardNumber, IsExpiry, IsNotExpired, IsSecurityCode, PassesLuhn } from './rules/card.rules.js';
import { IsRequired } from './rules/structure.rules.js';

/**
 * The groups of the two checks that a host may want to leave out of its own `ValidationPipe`. A pipe without groups
 * runs both; `new ValidationPipe({ always: true, groups: [CARD_CHECKS.expiry] })` leaves out Luhn.
 */
export const CARD_CHECKS = { luhn: 'payment.luhn', expiry: 'payment.expiry' } as const;

/** The three fields of a card. {@link CardDetailsDto} also prints itself safely. */
export type CardDetails = Pick<CardDetailsDto, 'cardNo' | 'expDate' | 'cvv'>;

const MASKED_VALUE = '****';

/**
 * A card (contract section 2.1). Its fields can be read, but printed by `JSON.stringify`, `util.inspect`,
 * `console.log`, `instanceToPlain` or a template it shows the first six and last four digits at most, no expiry and no
 * code. A plain object, a copy by spread and `console.dir` have no such protection. Since `instanceToPlain` masks, a
 * host's `ValidationPipe` needs `transform: true`.
 */
export class CardDetailsDto {
  /** 12 to 19 digits, nothing else. */
  @IsCardNumber()
  @PassesLuhn({ groups: [CARD_CHECKS.luhn] })
  @IsRequired()
  @Transform(({ value }) => maskedCardNumber(value), { toPlainOnly: true })
  cardNo!: string;

  /** MMyy; good through the end of its month anywhere on Earth. */
  @IsExpiry()
  @IsNotExpired({ groups: [CARD_CHECKS.expiry] })
  @IsRequired()
  @Transform(() => MASKED_VALUE, { toPlainOnly: true })
  expDate!: string;

  /** Security code: 3 or 4 digits. */
  @IsSecurityCode()
  @IsRequired()
  @Transform(() => MASKED_VALUE, { toPlainOnly: true })
  cvv!: string;

  /** The masked number. */
  toString(): string {
    return maskedCardNumber(this.cardNo);
  }
}

// Not declared as members, so that a plain object is a card to TypeScript as well.
Object.defineProperties(CardDetailsDto.prototype, {
  toJSON: { value: masked },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: CardDetailsDto) {
      return `CardDetailsDto ${JSON.stringify(this)}`;
    },
  },
});

function masked(this: CardDetailsDto): CardDetails {
  return { cardNo: maskedCardNumber(this.cardNo), expDate: MASKED_VALUE, cvv: MASKED_VALUE };
}

function maskedCardNumber(cardNo: unknown): string {
  return typeof cardNo === 'string' ? maskCardNumber(cardNo) : MASKED_VALUE;
}

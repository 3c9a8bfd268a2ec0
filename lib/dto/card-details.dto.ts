import { Transform } from 'class-transformer';
import { maskCardNumber } from '../payment/card-mask.js';
import { IsCardNumber, PassesLuhn } from './rules/card-number.rule.js';
import { IsExpiry, IsNotExpired } from './rules/expiry.rule.js';
import { IsRequired } from './rules/presence.rule.js';
import { IsSecurityCode } from './rules/security-code.rule.js';

/**
 * The groups of the two checks that a host may want to leave out of its own `ValidationPipe`. A pipe without groups makes both;
 * `new ValidationPipe({ always: true, groups: [CARD_CHECKS.expiry] })` leaves Luhn out.
 */
export const CARD_CHECKS = { luhn: 'payment.luhn', expiry: 'payment.expiry' } as const;

/** The three fields of a card; see {@link CardDetailsDto} for one that prints itself safely. */
export type CardDetails = Pick<CardDetailsDto, 'cardNo' | 'expDate' | 'cvv'>;

const HIDDEN = '****';

/**
 * A card (contract section 2.1). Its fields can be read; printed by `JSON.stringify`, `util.inspect`, `console.log`, `instanceToPlain` or a
 * template it shows the first six digits and the last four, no expiry and no code. A plain object, a copy by spread and
 * `console.dir` have no such protection. Since `instanceToPlain` masks, a host's `ValidationPipe` needs `transform: true`.
 */
export class CardDetailsDto {
  /** 12 to 19 digits, nothing else. */
  @IsCardNumber()
  @PassesLuhn({ groups: [CARD_CHECKS.luhn] })
  @IsRequired()
  @Transform(({ value }) => shownCardNumber(value), { toPlainOnly: true })
  cardNo!: string;

  /** MMyy; good through the end of its month, wherever on Earth. */
  @IsExpiry()
  @IsNotExpired({ groups: [CARD_CHECKS.expiry] })
  @IsRequired()
  @Transform(() => HIDDEN, { toPlainOnly: true })
  expDate!: string;

  /** Security code: 3 or 4 digits. */
  @IsSecurityCode()
  @IsRequired()
  @Transform(() => HIDDEN, { toPlainOnly: true })
  cvv!: string;

  /** The masked number. */
  toString(): string {
    return shownCardNumber(this.cardNo);
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
  return { cardNo: shownCardNumber(this.cardNo), expDate: HIDDEN, cvv: HIDDEN };
}

function shownCardNumber(cardNo: unknown): string {
  return typeof cardNo === 'string' ? maskCardNumber(cardNo) : HIDDEN;
}

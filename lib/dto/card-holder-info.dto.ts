import { IsPhoneNumber } from './rules/phone-number.rule.js';
import { IsRequired } from './rules/presence.rule.js';
import { IsText } from './rules/text.rule.js';

/** Who pays (contract section 2.1). */
export class CardHolderInfoDto {
  @IsText()
  @IsRequired()
  cardHolderName!: string;

  /** The buyer's mobile number: 7 to 15 digits, perhaps with +, spaces, dashes or brackets. Sent as given. */
  @IsPhoneNumber()
  @IsRequired()
  buyerGsm!: string;
}

import { IsCardFree } from './rules/card.rules.js';
import { IsRequired } from './rules/structure.rules.js';
import { IsPhoneNumber, IsText } from './rules/text.rules.js';

/** Who pays (docs/interface.md). */
export class CardHolderInfoDto {
  @IsText()
  @IsCardFree()
  @IsRequired()
  cardHolderName!: string;

  /** The buyer's mobile number: 7 to 15 digits, perhaps with +, spaces, dashes or brackets. Sent as given. */
  @IsPhoneNumber()
  @IsRequired()
  buyerGsm!: string;
}

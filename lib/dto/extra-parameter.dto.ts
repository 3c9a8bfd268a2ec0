import { MayBeAbsent } from './rules/structure.rules.js';
import { IsText } from './rules/text.rules.js';

/** What only some merchants send (docs/interface.md). */
export class ExtraParameterDto {
  /** Sub-merchant identifier. */
  @IsText()
  @MayBeAbsent()
  pfSubMerchantId?: string;
}

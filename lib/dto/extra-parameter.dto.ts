import { MayBeAbsent } from './rules/presence.rule.js';
import { IsText } from './rules/text.rule.js';

/** What only some merchants send (contract section 2.1). */
export class ExtraParameterDto {
  /** Sub-merchant identifier. */
  @IsText()
  @MayBeAbsent()
  pfSubMerchantId?: string;
}

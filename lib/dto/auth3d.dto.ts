import type { CallbackFields } from '../gateway/gateway-dialect.js';
import { IsAnObject, IsRequired } from './rules/structure.rules.js';
import { IsText } from './rules/text.rules.js';

/** What `PaymentService.auth3d` takes: which payment, and what the bank sent to its return or fail URL. */
export class Auth3dDto {
  @IsText()
  @IsRequired()
  conversationId!: string;

  /** The parsed form, JSON or query as received; Auth3d carries it to the gateway. */
  @IsAnObject()
  @IsRequired()
  fields!: CallbackFields;
}

import { PaymentCallbackDto } from './callback.dto.js';

/**
 * The body of Auth3d as it travels: the callback's fields as received. The contract says that much (section 4.3) and does not show the
 * fields.
 */
export class Auth3dRequestDto extends PaymentCallbackDto {}

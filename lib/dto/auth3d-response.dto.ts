import { DoPaymentResponseDto } from './do-payment-response.dto.js';

/** An answer to Auth3d. Its fields are not shown in the contract (section 2.3); that they are DoPayment's is unverified. */
export class Auth3dResponseDto extends DoPaymentResponseDto {}

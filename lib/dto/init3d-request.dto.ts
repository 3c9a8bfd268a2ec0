import { DoPaymentRequestDto } from './do-payment-request.dto.js';

/** The body of Init3d as it travels. Its fields are not shown in the contract (section 2.3); they are read as DoPayment's. */
export class Init3dRequestDto extends DoPaymentRequestDto {}

import { DoPaymentDto } from './do-payment.dto.js';

/** What `PaymentService.init3d` takes. The contract does not show Init3d's fields (section 2.3); they are read as DoPayment's. */
export class Init3dDto extends DoPaymentDto {}

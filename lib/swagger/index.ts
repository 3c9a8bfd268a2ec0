/**
 * OpenAPI metadata for the DTOs and for `Payment`, by this import alone, anywhere before `SwaggerModule.createDocument`:
 *
 * ```ts
 * import 'nestjs-card-payment/swagger';
 * ```
 *
 * @packageDocumentation
 */
import { Auth3dDto } from '../dto/auth3d.dto.js';
import { CardDetailsDto } from '../dto/card-details.dto.js';
import { CardHolderInfoDto } from '../dto/card-holder-info.dto.js';
import { CheckoutDto } from '../dto/checkout.dto.js';
import { DoPaymentDto } from '../dto/do-payment.dto.js';
import { ExtraParameterDto } from '../dto/extra-parameter.dto.js';
import { TransactionDetailsDto } from '../dto/transaction-details.dto.js';
import { describeDto } from './describe-dto.js';
import { describePayment } from './describe-payment.js';
import {
  AUTH3D_NOTES,
  CARD_NOTES,
  CHECKOUT_NOTES,
  EXTRA_NOTES,
  HOLDER_NOTES,
  PAYMENT_NOTES,
  TRANSACTION_NOTES,
} from './field-notes.js';

describeDto(CardDetailsDto, CARD_NOTES);
describeDto(CardHolderInfoDto, HOLDER_NOTES);
describeDto(CheckoutDto, CHECKOUT_NOTES);
describeDto(TransactionDetailsDto, TRANSACTION_NOTES);
describeDto(ExtraParameterDto, EXTRA_NOTES);
// Init3dDto inherits it.
describeDto(DoPaymentDto, PAYMENT_NOTES);
describeDto(Auth3dDto, AUTH3D_NOTES);
describePayment();

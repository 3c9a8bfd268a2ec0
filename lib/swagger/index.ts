/**
 * Importing this adds OpenAPI metadata to the DTOs. Import it before `SwaggerModule.createDocument`:
 *
 * ```ts
 * import 'nestjs-card-payment/swagger';
 * ```
 *
 * @packageDocumentation
 */
import type { Type } from '@nestjs/common';
import { type CardDetails, CardDetailsDto, CheckBinDto } from '../dto/card.dto.js';
import { Auth3dDto } from '../dto/gateway.dto.js';
import { RecordRefundDto, RefundDto, VoidDto } from '../dto/refund.dto.js';
import {
  CardHolderInfoDto,
  CheckoutDto,
  DoPaymentDto,
  ExtraParameterDto,
  HostedPaymentDto,
  TransactionDetailsDto,
} from '../dto/sale.dto.js';
import { describeDto } from './describe-dto.js';

// The card is a test card that the service publishes.
describeDto<CardDetails>(CardDetailsDto, {
  cardNo: {
    description: 'Card number: 12 to 19 digits, perhaps with spaces or dashes.',
    example: '4508034508034509',
    writeOnly: true,
  },
  expDate: { description: 'Expiry: MMyy, or as people type it, such as 12/36.', example: '12/36', writeOnly: true },
  cvv: { description: 'Security code: 3 or 4 digits.', example: '000', writeOnly: true },
});

describeDto(CheckBinDto, {
  bin: { description: 'The first 6 to 8 digits of the card number, and no more of it.', example: '450803' },
});

describeDto(CardHolderInfoDto, {
  cardHolderName: { description: 'The name on the card.', example: 'ADA YILMAZ' },
  buyerGsm: { description: 'The buyer’s mobile number: 7 to 15 digits.', example: '905551112233' },
});

describeDto(CheckoutDto, {
  cardDetails: { description: 'The card.', writeOnly: true },
  cardHolderInfo: { description: 'Who pays.' },
  installmentCount: { description: 'How many instalments; 1 unless given.', example: 1 },
});

// None of these is the body of a request. Init3dDto inherits its fields.
const OTHERS: readonly Type<object>[] = [
  TransactionDetailsDto,
  ExtraParameterDto,
  DoPaymentDto,
  HostedPaymentDto,
  Auth3dDto,
];
for (const dto of OTHERS) describeDto(dto);

const REFUND_FIELDS = {
  conversationId: { description: 'The payment whose money is given back.' },
  refundId: { description: 'The id of this attempt at the gateway, made unless given; never a payment’s id.' },
  idempotencyKey: { description: 'The same key with the same content is the same refund.' },
  note: { description: 'Why. Up to 1,000 characters are kept, without card numbers; not sent.' },
  by: { description: 'Who asks for it. Up to 200 characters are kept; not sent.' },
};

describeDto(VoidDto, REFUND_FIELDS);

describeDto(RefundDto, {
  ...REFUND_FIELDS,
  amount: { description: 'Major units, above 0; all that is left unless given. Text or a number.', example: '49.90' },
});

describeDto(RecordRefundDto, {
  ...REFUND_FIELDS,
  amount: { description: 'What was given back, in major units, above 0. Text or a number.', example: '49.90' },
});

import type { ApiPropertyOptions } from '@nestjs/swagger';
import type { Auth3dDto } from '../dto/auth3d.dto.js';
import type { CardDetails } from '../dto/card-details.dto.js';
import type { CardHolderInfoDto } from '../dto/card-holder-info.dto.js';
import type { CheckoutDto } from '../dto/checkout.dto.js';
import type { DoPaymentDto } from '../dto/do-payment.dto.js';
import type { ExtraParameterDto } from '../dto/extra-parameter.dto.js';
import type { TransactionDetailsDto } from '../dto/transaction-details.dto.js';

/** What no rule says of a field. */
export interface FieldNote extends Pick<ApiPropertyOptions, 'writeOnly'> {
  readonly description: string;
  readonly example?: string | number | boolean;
}

/** A note for each field of a message: one that is missing or left over does not compile. */
type NotesOf<T> = Readonly<Record<keyof T, FieldNote>>;

/** A test card that the service publishes. */
export const CARD_NOTES: NotesOf<CardDetails> = {
  cardNo: {
    description: 'Card number: 12 to 19 digits, perhaps with spaces or dashes.',
    example: '4508034508034509',
    writeOnly: true,
  },
  expDate: { description: 'Expiry: MMyy, or as people type it, such as 12/36.', example: '12/36', writeOnly: true },
  cvv: { description: 'Security code: 3 or 4 digits.', example: '000', writeOnly: true },
};

export const HOLDER_NOTES: NotesOf<CardHolderInfoDto> = {
  cardHolderName: { description: 'The name on the card.', example: 'ADA YILMAZ' },
  buyerGsm: { description: 'The buyer’s mobile number: 7 to 15 digits.', example: '905551112233' },
};

export const CHECKOUT_NOTES: NotesOf<CheckoutDto> = {
  cardDetails: { description: 'The card.', writeOnly: true },
  cardHolderInfo: { description: 'Who pays.' },
  installmentCount: { description: 'How many instalments; 1 unless given.', example: 1 },
};

export const TRANSACTION_NOTES: NotesOf<TransactionDetailsDto> = {
  transactionType: { description: '`SALE` unless given.', example: 'SALE' },
  installmentCount: { description: 'How many instalments; 1 unless given.', example: 1 },
  amount: {
    description:
      'Major units, above 0, at most 15 digits, with no more decimals than its currency has. Text or a number.',
    example: '149.90',
  },
  currencyCode: { description: 'ISO 4217, numeric: 949 is the Turkish lira.', example: 949 },
  vftFlag: { description: 'As your contract with the gateway says.', example: false },
};

export const EXTRA_NOTES: NotesOf<ExtraParameterDto> = {
  pfSubMerchantId: { description: 'Sub-merchant identifier.' },
};

export const PAYMENT_NOTES: NotesOf<DoPaymentDto> = {
  cardDetails: { description: 'The card.', writeOnly: true },
  transactionDetails: { description: 'What is paid.' },
  cardHolderInfo: { description: 'Who pays.' },
  extraParameter: { description: 'What only some merchants send.' },
  paymentMethod: { description: '`CARDPAYMENT` unless given.', example: 'CARDPAYMENT' },
  language: { description: 'The language of the payment; the merchant’s unless given.', example: 'tr' },
  paymentInstrumentType: { description: '`CARD` unless given.', example: 'CARD' },
  conversationId: { description: 'The id of this attempt at the gateway, made unless given; never used again.' },
  returnUrl: { description: 'Where the gateway sends the buyer after success.' },
  failUrl: { description: 'Where the gateway sends the buyer after a failure.' },
  reference: { description: 'The merchant’s own id: at most one attempt of it can succeed.', example: 'order-1' },
  allowRepeat: { description: 'Whether `reference` may be charged more than once.', example: false },
  idempotencyKey: { description: 'The same key with the same sale is the same payment.' },
};

export const AUTH3D_NOTES: NotesOf<Auth3dDto> = {
  conversationId: { description: 'Which payment.' },
  fields: { description: 'What the bank sent, as received.' },
};

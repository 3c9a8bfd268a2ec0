import { IsOptional, IsString } from 'class-validator';
import { rule } from './rules/rule.js';

/**
 * What the bank sends to the return or fail URL. The contract does not show its fields (section 6); these are the ones that the
 * service's public documentation names, so all are optional and unverified, and their case may differ. To read a callback in a
 * controller of your own use `@PaymentCallback()`, which takes them as they come; a whitelisting pipe would refuse others.
 */
export class PaymentCallbackDto {
  @IsString({ message: '$property must be a text' })
  @IsOptional()
  Code?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  Message?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  EftCode?: string;

  /** Opaque; never test it for a value. */
  @IsString({ message: '$property must be a text' })
  @IsOptional()
  MdStatus?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  MdStatusMessage?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  conversationId?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  OrderId?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  PaymentId?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  TransactionDate?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  Currency?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  PaymentInstrumentType?: string;

  @IsString({ message: '$property must be a text' })
  @IsOptional()
  MerchantId?: string;

  /** An object, or its JSON text; how a form carries it is unverified. */
  @rule(
    'instrumentDetail',
    '$property must be an object or its JSON text',
    (value) => typeof value === 'string' || (typeof value === 'object' && !Array.isArray(value)),
  )
  @IsOptional()
  InstrumentDetail?: string | Readonly<Record<string, unknown>>;
}

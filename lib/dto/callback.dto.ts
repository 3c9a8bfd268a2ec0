import { IsOptional } from 'class-validator';
import { rule } from './rules/rule.js';
import { IsReceivedText } from './rules/text.rules.js';

/**
 * What the bank sends to the return or fail URL. The interface (docs/interface.md) does not show its fields; these are
 * the ones that the service's public documentation names, so all of them are optional and unverified, and their case
 * may differ. To read a callback in a controller of your own, use `@PaymentCallback()`, which takes them as they come;
 * a whitelisting pipe would refuse others.
 */
export class PaymentCallbackDto {
  @IsReceivedText()
  @IsOptional()
  Code?: string;

  @IsReceivedText()
  @IsOptional()
  Message?: string;

  @IsReceivedText()
  @IsOptional()
  EftCode?: string;

  /** Opaque; never test it for a value. */
  @IsReceivedText()
  @IsOptional()
  MdStatus?: string;

  @IsReceivedText()
  @IsOptional()
  MdStatusMessage?: string;

  @IsReceivedText()
  @IsOptional()
  conversationId?: string;

  @IsReceivedText()
  @IsOptional()
  OrderId?: string;

  @IsReceivedText()
  @IsOptional()
  PaymentId?: string;

  @IsReceivedText()
  @IsOptional()
  TransactionDate?: string;

  @IsReceivedText()
  @IsOptional()
  Currency?: string;

  @IsReceivedText()
  @IsOptional()
  PaymentInstrumentType?: string;

  @IsReceivedText()
  @IsOptional()
  MerchantId?: string;

  /** An object, or its JSON text; how a form carries it is unverified. */
  @rule(
    {
      name: 'instrumentDetail',
      texts: {
        en: '$property must be an object or its JSON text',
        tr: '$property bir nesne veya onun JSON metni olmalı',
      },
    },
    (value) => typeof value === 'string' || (typeof value === 'object' && !Array.isArray(value)),
  )
  @IsOptional()
  InstrumentDetail?: string | Readonly<Record<string, unknown>>;
}

/**
 * The body of Auth3d as it travels: the callback's fields as received. The interface (docs/interface.md) says no more
 * than that.
 */
export class Auth3dRequestDto extends PaymentCallbackDto {}

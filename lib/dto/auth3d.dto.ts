import { IsOptional } from 'class-validator';
import type { CallbackFields } from '../gateway/gateway-dialect.js';
import { IsAnObject, IsRequired, rule } from './rules/rule.js';
import { IsReceivedText, IsText } from './rules/value.rules.js';

/**
 * The input of `PaymentService.auth3d`: the payment's id, and the fields that the bank sent to its return or fail URL.
 */
export class Auth3dDto {
  @IsText()
  @IsRequired()
  conversationId!: string;

  /** The parsed form, JSON or query as received. Auth3d sends it to the gateway. */
  @IsAnObject()
  @IsRequired()
  fields!: CallbackFields;
}

/**
 * The fields that the bank sends to the return or fail URL. The interface (docs/interface.md) does not show them; these
 * are the ones that the service's public documentation names, so all of them are optional and unverified, and their
 * case may differ. To read a callback in a controller of your own, use `@PaymentCallback()`, which accepts all fields;
 * a pipe with `whitelist` would drop or refuse the others.
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
 * The body of Auth3d as it is sent: the callback's fields as received. The interface (docs/interface.md) says no more
 * than that.
 */
export class Auth3dRequestDto extends PaymentCallbackDto {}

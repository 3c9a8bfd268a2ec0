import { IsBase64, IsOptional } from 'class-validator';
import { saying } from './rules/rule.js';
import { IsReceivedText } from './rules/text.rules.js';

/**
 * An answer to Init3d. The interface (docs/interface.md) says only that it returns the 3D page in Base64; all of these
 * names are unverified, and `htmlForm` is what a related answer of the same service is known to call it.
 */
export class Init3dResponseDto {
  @IsReceivedText()
  @IsOptional()
  code?: string | null;

  @IsReceivedText()
  @IsOptional()
  message?: string | null;

  @IsReceivedText()
  @IsOptional()
  resultCode?: string | null;

  @IsReceivedText()
  @IsOptional()
  resultDescription?: string | null;

  @IsReceivedText()
  @IsOptional()
  conversationId?: string | null;

  /** The page for the buyer's browser, in Base64. */
  @IsBase64({}, saying({ en: '$property must be Base64', tr: '$property Base64 olmalı' }))
  @IsOptional()
  htmlForm?: string | null;
}

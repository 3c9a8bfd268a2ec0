import { IsBase64, IsOptional, IsString } from 'class-validator';

const TEXT = { message: '$property must be a text' };

/**
 * An answer to Init3d. The contract says only that it returns the 3D page in Base64 (section 4.2); all of these names are unverified,
 * and `htmlForm` is what a related answer of the same service is known to call it.
 */
export class Init3dResponseDto {
  @IsString(TEXT)
  @IsOptional()
  code?: string | null;

  @IsString(TEXT)
  @IsOptional()
  message?: string | null;

  @IsString(TEXT)
  @IsOptional()
  resultCode?: string | null;

  @IsString(TEXT)
  @IsOptional()
  resultDescription?: string | null;

  @IsString(TEXT)
  @IsOptional()
  conversationId?: string | null;

  /** The page for the buyer's browser, in Base64. */
  @IsBase64({}, { message: '$property must be Base64' })
  @IsOptional()
  htmlForm?: string | null;
}

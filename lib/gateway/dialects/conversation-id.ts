import { randomBytes } from '../../payment/randomness.js';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** 20 random characters of Crockford's Base32 (100 bits), the form that the vendor's official plugin uses. */
export function newConversationId(): string {
  return Array.from(randomBytes(20), (byte) => CROCKFORD.charAt(byte & 31)).join('');
}

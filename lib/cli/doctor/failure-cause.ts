import { TimeoutError } from '../../payment/with-timeout.js';

const MEANINGS: readonly (readonly [code: RegExp, meaning: string])[] = [
  [/^ENOTFOUND$/, 'the name is not known'],
  [/^EAI_/, 'the name server gives no answer'],
  [/^ECONNREFUSED$/, 'nothing listens there'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'there is no answer'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the connection was cut'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'there is no way to it from here'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet; is the clock right?'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another name'],
  [/SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/, 'its certificate is of no authority that Node.js knows'],
  [
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|HANDSHAKE_FAILURE|DH_KEY_TOO_SMALL/,
    'it offers no TLS 1.2 or 1.3 with forward secrecy',
  ],
  [/^(EPROTO|ERR_SSL_)/, 'it does not speak TLS as it should'],
];

/** Why something over the network failed: what the code means, and the code. Nothing else of the error is shown. */
export function causeOf(error: unknown): string {
  if (error instanceof TimeoutError) return 'there was no answer in time';
  const code = codeOf(error) ?? codeOf((Object(error) as { cause?: unknown }).cause);
  if (code === null) return 'the reason is not known';
  const [, meaning] = MEANINGS.find(([pattern]) => pattern.test(code)) ?? [];
  return meaning === undefined ? code : `${meaning} (${code})`;
}

function codeOf(error: unknown): string | null {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_/]{1,60}$/.test(code) ? code : null;
}

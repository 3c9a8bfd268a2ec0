/** Codes of the system, of DNS, of undici and its parser, of Node's TLS and of OpenSSL's certificate checks. */
const KNOWN_FORMS = [
  /^E[A-Z0-9]{2,20}$/,
  /^EAI_[A-Z]{3,20}$/,
  /^HPE_[A-Z0-9_]{1,40}$/,
  // OpenSSL 3.5 has a slash in its names of alerts: ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE.
  /^(?:UND_)?ERR_[A-Z0-9_/]{3,60}$/,
  /^(?:CERT|CRL|CA|DEPTH_ZERO|ERROR_IN|HOSTNAME|INVALID|OUT_OF_MEM|PATH_LENGTH|SELF_SIGNED|UNABLE_TO)_?[A-Z_]{0,60}$/,
];

/** The `code` of an error of the connection. Only a code that looks like one: a host's own dispatcher may throw anything. */
export function causeCode(error: unknown): string | null {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  // undici gives it a code only where its parser has a short one.
  if (code === undefined && name === 'HTTPParserError') return name;
  return typeof code === 'string' && KNOWN_FORMS.some((form) => form.test(code)) ? code : null;
}

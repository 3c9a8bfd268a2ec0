/** Codes of the system, of DNS, of undici and its parser, of Node's TLS and of OpenSSL's certificate checks. */
const KNOWN_FORMS = [
  /^E[A-Z0-9]{2,20}$/,
  /^EAI_[A-Z]{3,20}$/,
  /^HPE_[A-Z0-9_]{1,40}$/,
  // OpenSSL 3.5 has a slash in its names of alerts: ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE.
  /^(?:UND_)?ERR_[A-Z0-9_/]{3,60}$/,
  /^(?:CERT|CRL|CA|DEPTH_ZERO|ERROR_IN|HOSTNAME|INVALID|OUT_OF_MEM|PATH_LENGTH|SELF_SIGNED|UNABLE_TO)_?[A-Z_]{0,60}$/,
];

/** One request, ready to be sent. It holds the card: never log it. */
export interface WireRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The claim on a payment, under which a request that moves money is sent. Nothing is sent once it has run out. */
export interface RequestClaim {
  /** One deadline for waiting for a connection, connecting and the answer. */
  readonly timeoutMs: number;
  /** Asks the store for the time if necessary. @returns whether it is known well enough for {@link mayStart} */
  confirmTime(): Promise<boolean>;
  /** Whether a request that starts now and takes this long is over before the claim runs out. */
  mayStart(timeoutMs: number): boolean;
}

/** What the gateway replied. */
export interface GatewayReply {
  readonly status: number;
  readonly text: string;
}

/** Why there is no reply although the request may have been sent. */
export type LostReply = 'deadline' | 'connection_lost' | 'reply_too_large' | 'reply_unreadable';

/** The reply to a request that may have been sent, or why there is none. */
export type Answer =
  | { readonly sent: true; readonly reply: GatewayReply }
  | { readonly sent: true; readonly reply: null; readonly cause: LostReply; readonly errorCode?: string };

/** Why nothing was sent. */
export type NothingSent = 'connection_failed' | 'deadline' | 'interceptor_failed' | 'claim_over';

/**
 * The outcome of one attempt to send a request. `sent: false` proves that nothing was written. `errorCode` is the code
 * of the connection's error, if it has one: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`.
 */
export type Transmission = { readonly sent: false; readonly cause: NothingSent; readonly errorCode?: string } | Answer;

/** The `code` of a connection's error, if it has a known form: a host's own dispatcher may throw anything. */
export function causeCode(error: unknown): string | null {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  // undici's parser has no code for some of its errors.
  if (code === undefined && name === 'HTTPParserError') return name;
  return typeof code === 'string' && KNOWN_FORMS.some((form) => form.test(code)) ? code : null;
}

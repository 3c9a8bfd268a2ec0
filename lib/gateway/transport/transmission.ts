/** One request, ready to go. It holds the card: never log it. */
export interface WireRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request that moves money may be sent under: nothing leaves once it has run out. */
export interface RequestClaim {
  /** One deadline for queueing, connecting and the answer. */
  readonly timeoutMs: number;
  /** Makes sure that the time is known well enough for {@link mayStart}. @returns false where it is not */
  confirmTime(): Promise<boolean>;
  /** Whether a request that begins now, and takes this long, is over before the claim runs out. */
  mayStart(timeoutMs: number): boolean;
}

/** What a gateway replied. */
export interface GatewayReply {
  readonly status: number;
  readonly text: string;
}

/** Why a reply is missing although the request may have left. */
export type LostReply = 'deadline' | 'connection_lost' | 'reply_too_large' | 'reply_unreadable';

/** What came of a request that may have left. */
export type Answer =
  | { readonly sent: true; readonly reply: GatewayReply }
  | { readonly sent: true; readonly reply: null; readonly cause: LostReply; readonly errorCode?: string };

/** Why nothing was sent. */
export type NothingSent = 'connection_failed' | 'deadline' | 'interceptor_failed' | 'claim_over';

/**
 * What is known of one attempt. `sent: false` is proof that nothing of it was written. `errorCode` is the code of what
 * the connection failed with, where it has one: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`.
 */
export type Transmission = { readonly sent: false; readonly cause: NothingSent; readonly errorCode?: string } | Answer;

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

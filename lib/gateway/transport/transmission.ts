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

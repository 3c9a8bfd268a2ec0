import type { JsonObject } from './exact-json.js';

/** An answer as it goes on the wire. */
export interface WireReply {
  readonly status: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What goes wrong. */
export type FaultPlay =
  /** The connection is reset (TCP RST). */
  | { readonly kind: 'reset' }
  /** The connection is closed (TCP FIN). */
  | { readonly kind: 'close' }
  /** Nothing happens until the client goes away, or until `release()`: then the request takes its normal course. */
  | { readonly kind: 'stall' }
  /** The headers and the first half of the answer's body, then the connection is closed. */
  | { readonly kind: 'half-reply' }
  /** The right answer, byte by byte. */
  | { readonly kind: 'one-byte' }
  /** The right answer; then the connection is reset as its next request arrives. */
  | { readonly kind: 'close-next-request' }
  /** The right answer, which promises keep-alive; then the connection is closed. */
  | { readonly kind: 'close-after-reply' }
  /** An answer of your own. */
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  /**
   * A status, its body the documented error shape, HTML or nothing. A 3xx points at `location`, by default the
   * simulator.
   */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: 'json' | 'html' | 'empty';
      readonly code?: string;
      readonly location?: string;
    }
  /** The right answer with other fields: changed in place, before it is signed. Numbers are {@link JsonNumber}. */
  | {
      readonly kind: 'edit';
      readonly edit: (fields: JsonObject, context: { readonly contentField: string }) => void;
    }
  /** The right answer with other bytes or headers. */
  | { readonly kind: 'transform'; readonly transform: (reply: WireReply) => WireReply };

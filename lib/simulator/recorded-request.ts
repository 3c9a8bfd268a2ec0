import type { IncomingHttpHeaders } from 'node:http';
import type { SimulatorOperation } from './ledger.js';

/**
 * A request as it reached the gateway. It holds the card: this is a tool for tests, and nothing outlives its process.
 */
export interface RecordedRequest {
  /** null for a path that the gateway does not have. */
  readonly operation: SimulatorOperation | null;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Counts connections, so that tests see which requests shared one. */
  readonly connection: number;
  readonly at: Date;
  /** The body as it was received; empty when it was not read. */
  text: string;
  /** The body parsed; undefined when it is no JSON. */
  body: unknown;
  /** Why the request was refused: a code and what is wrong, without values. */
  refusal: { readonly code: string; readonly message: string; readonly problems: readonly string[] } | null;
  /** The kind of the fault that hit it. */
  fault: string | null;
  /** What was answered; null when nothing was, or not all of it. */
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string } | null;
}

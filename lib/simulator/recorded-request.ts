import type { IncomingHttpHeaders } from 'node:http';
import type { SimulatorOperation } from './ledger.js';

/** A request that reached the gateway, as it was. It holds the card: this is a tool for tests, and it forgets when it ends. */
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
  /** The kind of the fault that met it. */
  fault: string | null;
  /** What was answered; null when nothing was, or not to its end. */
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string } | null;
}

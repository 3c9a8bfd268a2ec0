/** The addresses and folders that a subject needs. */
export interface SubjectSetup {
  readonly gatewayUrl: string;
  /** The store, if the subject is this package. */
  readonly storeUrl: string;
  /** The folder of the built package to measure. */
  readonly packageFolder: string;
}

/** A client that pays. */
export interface Caller {
  /** One payment; resolves when its answer says that it succeeded, and rejects otherwise. */
  call(number: number): Promise<void>;
  /** Waits until all background work of earlier calls is done. */
  settled?(): Promise<void>;
  close(): Promise<void>;
}

/** A merchant's server to which the bank sends the buyer back. */
export interface CallbackServer {
  /** Starts a 3D payment. */
  open(number: number): Promise<Callback>;
  close(): Promise<void>;
}

/** What the bank makes the buyer's browser post. */
export interface Callback {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

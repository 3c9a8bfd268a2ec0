import type { PaymentRecord, PaymentStore } from 'nestjs-card-payment';

/** A store to measure beside its bare driver. */
export interface ClaimSubject {
  readonly name: string;
  /** The store as a merchant opens it, and a twin with its own database, where the bare driver does the same work. */
  openStores(): Promise<{ readonly store: PaymentStore; readonly twin: PaymentStore }>;
  /**
   * Records what a real claim on a third database sends, for each of these claims.
   * @returns a function for each claim that sends the same to the twin's database by the bare driver
   */
  bareClaims(records: readonly PaymentRecord[]): Promise<readonly (() => Promise<unknown>)[]>;
  close(): Promise<void>;
}

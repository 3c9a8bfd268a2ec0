import type { PaymentRecord, PaymentStore } from 'nestjs-card-payment';

/** A store to measure beside its bare driver. */
export interface ClaimSubject {
  readonly name: string;
  /** The store as a merchant opens it, and a twin with its own database, where the bare driver does the same work. */
  openStores(): Promise<{ readonly store: PaymentStore; readonly twin: PaymentStore }>;
  /**
   * What each of these claims sends to the server or file, recorded from a real claim on a third database.
   * @returns a function for each claim that sends just that to the twin's database by the bare driver
   */
  bareClaims(records: readonly PaymentRecord[]): Promise<readonly (() => Promise<unknown>)[]>;
  close(): Promise<void>;
}

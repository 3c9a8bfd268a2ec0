/** What can be chosen on the command line. */
export interface ScaleOptions {
  /** How many payments PostgreSQL is filled with at most. */
  readonly stored?: number;
  /** In the tables of docs/partitioned-postgres.sql. */
  readonly partitioned: boolean;
}

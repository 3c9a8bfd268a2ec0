export const SCALE_DATABASES = ['postgres', 'mariadb'] as const;
export type ScaleDatabase = (typeof SCALE_DATABASES)[number];

/** What can be chosen on the command line. */
export interface ScaleOptions {
  readonly database: ScaleDatabase;
  /** How many payments the database is filled with at most. */
  readonly stored?: number;
  /** In the tables of docs/partitioned-postgres.sql. */
  readonly partitioned: boolean;
}

export type FindingStatus = 'ok' | 'failed' | 'skipped';

/** What one check found: a line of the report. */
export interface Finding {
  readonly check: CheckName;
  readonly status: FindingStatus;
  readonly message: string;
  /** What to do; null where there is nothing to do. */
  readonly advice: string | null;
}

/** In the order of the report. */
export const CHECK_NAMES = [
  'environment',
  'settings',
  'variables',
  'store',
  'gateway',
  'clock',
  'credentials',
  'callback',
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

export function ok(check: CheckName, message: string, advice: string | null = null): Finding {
  return { check, status: 'ok', message, advice };
}

export function failed(check: CheckName, message: string, advice: string | null): Finding {
  return { check, status: 'failed', message, advice };
}

export function skipped(check: CheckName, message: string, advice: string | null = null): Finding {
  return { check, status: 'skipped', message, advice };
}

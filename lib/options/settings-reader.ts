import type { ConfigurationProblem } from '../errors/payment-configuration.error.js';

type Environment = Readonly<Record<string, string | undefined>>;
/** @returns what is wrong with the value, or null */
type Check<T> = (value: T) => string | null;

/** What a timer of Node takes at most: 24 days. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Reads settings from options, then from variables, and notes all that is wrong instead of stopping at the first. */
export class SettingsReader<Options extends object> {
  readonly problems: ConfigurationProblem[] = [];

  constructor(
    private readonly options: Options,
    private readonly environment: Environment,
    private readonly prefix: string,
  ) {}

  text(option: keyof Options & string, suffix: string, check: Check<string> = emptyProblem): string | null {
    const variable = this.prefix + suffix;
    const given = this.options[option] ?? (this.environment[variable] || undefined);
    if (given === undefined) return null;
    const problem = typeof given === 'string' ? check(given) : 'must be a text';
    if (problem !== null) this.note(option, variable, problem);
    return problem === null ? (given as string) : null;
  }

  required(option: keyof Options & string, suffix: string, check?: Check<string>): string {
    const before = this.problems.length;
    const value = this.text(option, suffix, check);
    if (value === null && this.problems.length === before) this.note(option, this.prefix + suffix, 'is missing');
    return value ?? '';
  }

  choice<T extends string>(option: keyof Options & string, suffix: string, choices: readonly T[], fallback: T): T {
    const value = this.text(option, suffix, (text) =>
      (choices as readonly string[]).includes(text) ? null : `must be one of: ${choices.join(', ')}`,
    );
    return (value as T | null) ?? fallback;
  }

  integer(
    option: keyof Options & string,
    suffix: string,
    least: number,
    fallback: number,
    most = MAX_TIMER_MS,
  ): number {
    const variable = this.prefix + suffix;
    const given: unknown = this.options[option] ?? (this.environment[variable] || undefined);
    if (given === undefined) return fallback;
    const value = typeof given === 'string' && /^\d{1,15}$/.test(given.trim()) ? Number(given) : given;
    const isFromCode = this.options[option] !== undefined && this.options[option] !== null;
    if (
      typeof value !== 'number' ||
      (isFromCode && typeof given !== 'number') ||
      !Number.isInteger(value) ||
      value < least ||
      value > most
    ) {
      this.note(option, variable, `must be a whole number from ${least} to ${most}`);
      return fallback;
    }
    return value;
  }

  flag(option: keyof Options & string, suffix: string, fallback: boolean): boolean {
    const variable = this.prefix + suffix;
    const given: unknown = this.options[option];
    if (typeof given === 'boolean') return given;
    if (given === undefined || given === null) {
      const text = (this.environment[variable] ?? '').trim().toLowerCase();
      if (text === '') return fallback;
      if (text === 'true' || text === '1') return true;
      if (text === 'false' || text === '0') return false;
    }
    this.note(option, variable, 'must be true or false');
    return fallback;
  }

  note(option: keyof Options & string, variable: string | null, message: string): void {
    this.problems.push({ option, variable, message });
  }
}

function emptyProblem(text: string): string | null {
  return text.trim() === '' ? 'must not be empty' : null;
}

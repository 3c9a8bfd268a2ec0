import type { Environment } from '../options/read-options.js';

/** An option of a command, as `util.parseArgs` reads it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** May be given more than once. */
  readonly multiple?: boolean;
  /** What stands for its value in the help. */
  readonly value?: string;
  readonly about: string;
}

export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** What was given for each option; undefined where nothing was. */
export type OptionValuesOf<Options extends CommandOptions> = {
  readonly [Name in keyof Options]?: Options[Name] extends { readonly multiple: true }
    ? readonly string[]
    : Options[Name] extends { readonly type: 'boolean' }
      ? boolean
      : string;
};

/** A command as it was called. */
export interface Call<Options extends CommandOptions> {
  /** One for each of the command's words. */
  readonly words: readonly string[];
  readonly values: OptionValuesOf<Options>;
  /** The process's variables, with those of the `.env` file. */
  readonly environment: Environment;
  /** The file that variables were read from; null where there was none. */
  readonly environmentFile: string | null;
}

/** What a command has to say. */
export interface Outcome {
  readonly text: string;
  /** What `--json` prints instead. Its shape is documented and stays. */
  readonly json?: object;
  /** 1 where the answer is bad news; 0 by default. */
  readonly status?: 0 | 1;
  /** Whether the process goes on until it is ended. */
  readonly staysUp?: boolean;
}

export interface Command<Options extends CommandOptions = CommandOptions> {
  readonly name: string;
  readonly summary: string;
  /** The words that it takes, all of them required. */
  readonly words: readonly string[];
  readonly options: Options;
  /** Shown below the options. */
  readonly notes?: string;
  run(call: Call<Options>): Outcome | Promise<Outcome>;
}

/** A command among others; what it is called with has been parsed by its own options. */
export function command<const Options extends CommandOptions>(definition: Command<Options>): Command {
  return definition;
}

import { isNativeError } from 'node:util/types';
import { type Credentials, Masker } from './kept-text.js';

/** What the host's code threw, in a form that may be stored and logged. */
export interface Thrown {
  /** Name and message, and those of the cause: `TypeError: no route`. */
  readonly error: string;
  /** Where in the host's code: `Orders.paid (dist/orders.js:4:5)`, innermost first; empty if that is not known. */
  readonly at: readonly string[];
}

/** Only the beginning of a longer stack is read. */
const MAX_STACK_LENGTH = 10_000;
const MAX_PLACES = 3;
/** With the line and the column at its end. */
const PLACE = /^at (?:async )?(.*?)(:\d+:\d+\)?)$/;
/** Node's own code, packages (this one, too), and code without a file. */
const NOT_HOST_CODE = /node_modules|node:|<anonymous>/;
const LONG_NUMBER = /\d(?:[^\p{L}\p{N}]*\d){8,}/gu;

/**
 * Describes what the host's code threw. Its texts may hold anything that the code was given.
 *
 * @param masker of the request that was being made or answered
 */
export function describeThrown(thrown: unknown, masker: Masker): Thrown {
  try {
    if (isError(thrown)) {
      const at = placesIn(thrown).filter((place) => !masker.isIn(place));
      return { error: masker.keptMessage(textOf(thrown)) ?? 'an error without a text', at };
    }
  } catch {
    // The thrown value may have getters that throw, or a message that is not a text.
  }
  return { error: 'threw something that is no Error', at: [] };
}

/** {@link describeThrown} where no more is known than the credentials. */
export function describeHostError(thrown: unknown, { clientSecret, apiKey }: Credentials): Thrown {
  return describeThrown(thrown, new Masker([clientSecret, apiKey]));
}

/** `: TypeError: no route, at Orders.paid (dist/orders.js:4:5)`, for the end of a line in the log. */
export function thrownText({ error, at: [place] }: Thrown): string {
  return `: ${error}${place === undefined ? '' : `, at ${place}`}`;
}

function textOf(error: Error): string {
  const { cause } = error;
  return `${error.name}: ${error.message}${isError(cause) ? `; cause: ${cause.name}: ${cause.message}` : ''}`;
}

/** Also true for an error of another realm, as in Jest. */
function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

function placesIn({ stack, message }: { readonly stack?: unknown; readonly message: string }): string[] {
  if (typeof stack !== 'string') return [];
  // The message comes first, and may have lines that look like places.
  const start = stack.indexOf(message);
  return stack
    .slice(start < 0 ? 0 : start + message.length)
    .slice(0, MAX_STACK_LENGTH)
    .split('\n')
    .filter((line) => !NOT_HOST_CODE.test(line))
    .flatMap((line) => {
      const [, where, position] = PLACE.exec(line.trim()) ?? [];
      return where === undefined || position === undefined ? [] : [shortened(where) + position];
    })
    .slice(0, MAX_PLACES);
}

function shortened(place: string): string {
  return place.replace('file://', '').replace(`${process.cwd()}/`, '').replace(LONG_NUMBER, '***');
}

import { isNativeError } from 'node:util/types';

/** What a function of the host threw, in a form that may be stored and logged. */
export interface Thrown {
  /** Name and message, and those of the cause: `TypeError: no route`. */
  readonly error: string;
  /** Where in the host's code: `Orders.paid (dist/orders.js:4:5)`, innermost first; empty if that is not known. */
  readonly at: readonly string[];
}

/** Only the beginning of a longer stack is read. */
const MAX_STACK_LENGTH = 10_000;
const MAX_FRAMES = 3;
const PLACE = /:\d+:\d+\)?$/;
/** Node's own code, packages (this one, too), and code without a file. */
const NOT_HOST_CODE = /node_modules|node:|<anonymous>/;

/**
 * Describes what a function of the host threw. The error's texts may hold anything that the function was given.
 *
 * @param hide makes a text safe to show, and limits its length
 */
export function describeThrown(thrown: unknown, hide: (text: string) => string): Thrown {
  try {
    if (isError(thrown)) {
      return { error: hide(textOf(thrown)), at: placesOf(thrown).map((place) => hideInPlace(place, hide)) };
    }
  } catch {
    // The thrown value may have getters that throw, or a message that is not a text.
  }
  return { error: 'threw something that is no Error', at: [] };
}

/** `: TypeError: no route, at Orders.paid (dist/orders.js:4:5)`, for the end of a line in the log. */
export function thrownText({ error, at }: Thrown): string {
  const [place] = at;
  return `: ${error}${place === undefined ? '' : `, at ${place}`}`;
}

/** Separates the parts of a path, since a whole path looks like a secret. Digits spread over parts are found anyway. */
function hideInPlace(place: string, hide: (text: string) => string): string {
  return hide(place.replaceAll('/', ' / ')).replaceAll(' / ', '/');
}

function textOf(error: Error): string {
  const { cause } = error;
  return `${error.name}: ${error.message}${isError(cause) ? `; cause: ${cause.name}: ${cause.message}` : ''}`;
}

/** Also true for an error of another realm, as in Jest. */
function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

function placesOf({ stack, message }: { readonly stack?: unknown; readonly message: string }): string[] {
  if (typeof stack !== 'string') return [];
  // The message comes first, and may have lines that look like stack frames.
  const start = stack.indexOf(message);
  const frames = stack
    .slice(start < 0 ? 0 : start + message.length)
    .slice(0, MAX_STACK_LENGTH)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at ') && PLACE.test(line) && !NOT_HOST_CODE.test(line));
  const folder = `${process.cwd()}/`;
  return frames.slice(0, MAX_FRAMES).map((line) =>
    line
      .slice('at '.length)
      .replace(/^async /, '')
      .replace('file://', '')
      .replace(folder, ''),
  );
}

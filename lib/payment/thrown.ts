import { isNativeError } from 'node:util/types';

/** What a function of the host threw, as it may be stored and logged. */
export interface Thrown {
  /** `TypeError: no route`, with its cause. */
  readonly error: string;
  /** Where in the host's own code: `Orders.paid (dist/orders.js:4:5)`, the nearest first; empty where that is not known. */
  readonly at: readonly string[];
}

/** Of a longer stack only the beginning is read. */
const MAX_STACK_LENGTH = 10_000;
const MAX_FRAMES = 3;
const A_PLACE = /:\d+:\d+\)?$/;
/** Node's own code, packages (this one, too), and what has no file. */
const NOT_OF_THE_HOST = /node_modules|node:|<anonymous>/;

/**
 * Describes what a function of the host threw. Its texts may hold anything that the function was given.
 *
 * @param hide makes a text safe to show, and cuts it
 */
export function describeThrown(thrown: unknown, hide: (text: string) => string): Thrown {
  try {
    if (isError(thrown))
      return { error: hide(textOf(thrown)), at: placesOf(thrown).map((place) => hiddenIn(place, hide)) };
  } catch {
    // Whatever is thrown may have getters that throw, or a message that is no text.
  }
  return { error: 'threw something that is no Error', at: [] };
}

/** `: TypeError: no route, at Orders.paid (dist/orders.js:4:5)`, for the end of a line in the log. */
export function thrownText({ error, at }: Thrown): string {
  const [place] = at;
  return `: ${error}${place === undefined ? '' : `, at ${place}`}`;
}

/** Part by part: a path as a whole looks like a secret. Digits that are spread over its parts are found all the same. */
function hiddenIn(place: string, hide: (text: string) => string): string {
  return hide(place.replaceAll('/', ' / ')).replaceAll(' / ', '/');
}

function textOf(error: Error): string {
  const { cause } = error;
  return `${error.name}: ${error.message}${isError(cause) ? `; cause: ${cause.name}: ${cause.message}` : ''}`;
}

/** Also one of another realm, as in Jest. */
function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

function placesOf({ stack, message }: { readonly stack?: unknown; readonly message: string }): string[] {
  if (typeof stack !== 'string') return [];
  // The message stands before the places, and may have lines that look like them.
  const start = stack.indexOf(message);
  const frames = stack
    .slice(start < 0 ? 0 : start + message.length)
    .slice(0, MAX_STACK_LENGTH)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at ') && A_PLACE.test(line) && !NOT_OF_THE_HOST.test(line));
  const folder = `${process.cwd()}/`;
  return frames.slice(0, MAX_FRAMES).map((line) =>
    line
      .slice('at '.length)
      .replace(/^async /, '')
      .replace('file://', '')
      .replace(folder, ''),
  );
}

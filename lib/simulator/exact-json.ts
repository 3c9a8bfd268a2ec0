import { randomUUID } from 'node:crypto';

/** A JSON number with the digits as they were written: `60.00` stays `60.00`. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** A JSON value whose numbers keep the digits as written. */
export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;
export interface JsonObject {
  [field: string]: JsonValue | undefined;
}

/** Strings are matched as a whole, so that only numbers are left. */
const STRING_OR_DIGITS = /("(?:\\.|[^"\\])*"?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** @throws SyntaxError when the text is not JSON, RangeError when it is nested too deep */
export function parseExact(text: string): JsonValue {
  JSON.parse(text);
  const mark = randomUUID();
  const marked = text.replace(STRING_OR_DIGITS, (match, string?: string) => string ?? `"${mark}${match}"`);
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new JsonNumber(value.slice(mark.length)) : value,
  ) as JsonValue;
}

export function stringifyExact(value: JsonValue): string {
  const mark = randomUUID();
  const text = JSON.stringify(value, (_key, member: unknown) =>
    member instanceof JsonNumber ? `${mark}${member.text}` : member,
  );
  return text.replace(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

import { format, inspect, type InspectOptions } from 'node:util';

const EVERYTHING: InspectOptions = {
  depth: Infinity,
  showHidden: true,
  maxArrayLength: null,
  maxStringLength: null,
  breakLength: Infinity,
};

/** Every way in which Node.js prints a value, at every depth, and its JSON, circles left out. */
export function printings(value: unknown): string[] {
  return [
    inspect(value, EVERYTHING),
    inspect(value, { ...EVERYTHING, customInspect: false }),
    inspect(value, { ...EVERYTHING, getters: true }),
    inspect(value),
    format('%s %o %O', value, value, value),
    jsonOf(value),
  ];
}

function jsonOf(value: unknown): string {
  const above: unknown[] = [];
  return (
    JSON.stringify(value, function (this: unknown, _name, member: unknown) {
      while (above.length > 0 && above.at(-1) !== this) above.pop();
      if (typeof member === 'bigint') return String(member);
      if (typeof member !== 'object' || member === null) return member;
      if (above.includes(member)) return '[circle]';
      above.push(member);
      return member;
    }) ?? ''
  );
}

import { readFileSync } from 'node:fs';

const PAGE = readFileSync('docs/command-line.md', 'utf8');
/** Stands for the fields of a payment or refund, which are shown once. */
const THE_REST = '…';

/** What docs/command-line.md says of a command. */
export function documented(command: string): string {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${command}\n`));
  if (section === undefined) throw new Error(`docs/command-line.md says nothing of ${command}`);
  return section;
}

export function wholePage(): string {
  return PAGE;
}

/** What the page shows of what people are shown. */
export function documentedText(command: string): string {
  return /```text\n([\s\S]*?)```/.exec(documented(command))?.[1] ?? '';
}

/** The names of an example's fields, at any depth; of lists, those of the first entry. */
export function documentedShape(command: string): unknown {
  return shapeOf(exampleOf(command));
}

function exampleOf(command: string): unknown {
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(documented(command)) ?? [];
  return JSON.parse(example);
}

export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return 'a value';
  const members = value as Readonly<Record<string, unknown>>;
  const elsewhere = members[THE_REST];
  if (typeof elsewhere === 'string') return shapeOf(shownOnce(elsewhere));
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, shapeOf(member)]));
}

/** @param elsewhere `as in payments list` */
function shownOnce(elsewhere: string): unknown {
  const { payments, refund } = exampleOf(elsewhere.replace(/^as in /, '')) as {
    readonly payments?: readonly unknown[];
    readonly refund?: unknown;
  };
  return payments?.[0] ?? refund;
}

/** The same shape, with a list empty where the answer's own is. */
export function withEmptyLists(shape: unknown, answer: unknown): unknown {
  if (Array.isArray(shape)) return Array.isArray(answer) && answer.length === 0 ? [] : shape;
  if (typeof shape !== 'object' || shape === null) return shape;
  const members = Object(answer) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(shape).map(([name, member]) => [name, withEmptyLists(member, members[name])]),
  );
}

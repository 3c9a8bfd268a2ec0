import { readFileSync } from 'node:fs';

const PAGE = readFileSync('docs/command-line.md', 'utf8');
/** Stands for the fields of a payment, which are shown once. */
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

/** The names of an example's fields, at any depth; of lists, those of the first entry. */
export function documentedShape(command: string): unknown {
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(documented(command)) ?? [];
  return shapeOf(JSON.parse(example));
}

export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return 'a value';
  const { payment, ...rest } = value as Record<string, unknown>;
  const entries = Object.entries(payment === undefined ? rest : { ...rest, payment: wholePayment(payment) });
  return Object.fromEntries(entries.map(([name, member]) => [name, shapeOf(member)]));
}

function wholePayment(payment: unknown): unknown {
  if (!Object.hasOwn(payment as object, THE_REST)) return payment;
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(documented('payments list')) ?? [];
  return (JSON.parse(example) as { payments: unknown[] }).payments[0];
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

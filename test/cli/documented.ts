import { readFileSync } from 'node:fs';

const PAGE = readFileSync('docs/command-line.md', 'utf8');

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

/** The fields that the page lists, in its order. */
export function documentedFields(command: string): string[] {
  const [, listed = ''] = /^The fields, in this order,([\s\S]*?)\.$/m.exec(documented(command)) ?? [];
  return [...listed.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

/** The names of an answer's fields, at any depth; of lists, those of the first entry. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return 'a value';
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
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

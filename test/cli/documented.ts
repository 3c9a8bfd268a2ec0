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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TEXT = join(import.meta.dirname, 'expected', 'urls.txt');

/** The sections of the text, each with its heading and the URLs that stand at the beginning of a line. */
export function urlSections(): readonly { readonly heading: string; readonly urls: readonly string[] }[] {
  const sections = readFileSync(TEXT, 'utf8').trimEnd().split('\n\n');
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return { heading, urls: lines.filter((line) => !line.startsWith('  ')) };
  });
}

/** Every form that hides a user `ada` or a password `geheim` somewhere. */
export const SECRET_URLS = urlSections()[0]!.urls.map((url) => [url] as const);

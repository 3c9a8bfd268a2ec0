/** A page, and its path from the root of the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A heading, and what follows it up to the next one. */
interface Section {
  readonly heading: string;
  readonly level: number;
  readonly text: string;
  /** What is in backticks. */
  readonly names: readonly string[];
  readonly listItems: number;
  /** The rows and columns of each table. */
  readonly tables: readonly string[];
  readonly code: readonly string[];
}

/**
 * Compares the structure of a page with that of its translation: headings, lists, tables, code (but not its comments),
 * names in backticks, and links.
 *
 * @returns what differs, by the headings of the translation: what the original has, and what the translation has instead
 */
export function differences(original: Page, translation: Page): string[] {
  const [sections, translated] = [sectionsOf(original.text), sectionsOf(translation.text)];
  const [levels, translatedLevels] = [sections, translated].map((all) => all.map(({ level }) => '#'.repeat(level)));
  if (levels!.join() !== translatedLevels!.join()) return difference('headings', levels!, translatedLevels!);
  return [
    ...sections.flatMap((section, index) => differencesOfSections(section, translated[index]!)),
    ...differenceOfLinks(original, translation),
  ];
}

function differencesOfSections(section: Section, translated: Section): string[] {
  // A plain word of English prose may be a name in Turkish: "the reference" is "`reference`".
  const names = translated.names.filter((name) => section.names.includes(name) || !section.text.includes(name));
  const { heading } = translated;
  return [
    ...difference(`${heading}, names`, section.names, names),
    ...difference(`${heading}, items of lists`, [`${section.listItems}`], [`${translated.listItems}`]),
    ...difference(`${heading}, tables`, section.tables, translated.tables),
    ...difference(`${heading}, code`, section.code, translated.code),
  ];
}

function difference(what: string, original: readonly string[], translated: readonly string[]): string[] {
  if (JSON.stringify(original) === JSON.stringify(translated)) return [];
  return [`${what}: ${without(original, translated).join(', ')} -> ${without(translated, original).join(', ')}`];
}

function without(values: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return values.filter((value) => {
    const index = left.indexOf(value);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

function sectionsOf(text: string): Section[] {
  const code: string[] = [];
  // A block is replaced by its number, so that no `#` in it counts as a heading, and no `|` as a table.
  const prose = text
    .replaceAll('\r\n', '\n')
    .replace(
      /^```(\w+)\n([\s\S]*?)^```$/gm,
      (_, language: string, block: string) =>
        `@@${code.push(`${language}: ${withoutComments(language, block)}`) - 1}@@`,
    );
  return prose.split(/^(?=#{1,6} )/m).map((section) => ({
    heading: /^.*/.exec(section)![0],
    level: /^#*/.exec(section)![0].length,
    text: section,
    names: namesIn(section),
    listItems: [...section.matchAll(/^(?:- |\d+\. )/gm)].length,
    tables: [...section.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => sizeOf(table)),
    code: [...section.matchAll(/^@@(\d+)@@$/gm)].map(([, index]) => code[Number(index)]!),
  }));
}

function namesIn(section: string): string[] {
  const found = [...section.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.replace(/\s+/g, ' '));
  // Sentences are built in another order.
  return [...new Set(found)].sort();
}

function sizeOf(table: string): string {
  const rows = table.trim().split('\n');
  return `${rows.length} rows of ${rows[0]!.split('|').length - 2}`;
}

/**
 * Puts a bare mark in the place of each comment; the first line stays if it names the file. What buyers read, and the
 * name of their language, are those of the page.
 */
function withoutComments(language: string, code: string): string {
  const [, file = '', rest = code] = /^((?:\/\/|#) \S*[./]\S*.*\n)([\s\S]*)$/.exec(code) ?? [];
  if (file.endsWith('/texts.ts\n')) return file;
  const lines = bare(language, rest)
    .replace(/(?<=--language |_LANGUAGE=)(?:en|tr)\b/g, '')
    .split('\n')
    .map((line) => line.trim());
  // A comment may need more lines in one language than in the other.
  const isFurtherLine = (line: string, index: number): boolean =>
    /^(?:\/\/|#)$/.test(line) && lines[index - 1] === line;
  return file + lines.filter((line, index) => line !== '' && !isFurtherLine(line, index)).join('\n');
}

function bare(language: string, code: string): string {
  if (language === 'ts') return code.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '//');
  return code.replace(/(?<=^|\s)#.*$/gm, '#');
}

/** The links of a page into this repository, as paths from its root with their anchors. */
export function linksOf({ path, text }: Page): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  const found = [...prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)/gm)].map(([, inText, defined]) =>
    (inText ?? defined ?? '').replace(/^https:\/\/(?:github|raw\.githubusercontent)\.com\/.*?\/main\//, '/'),
  );
  const root = 'file:///';
  return found
    .map((link) => decodeURI(new URL(link, root + path).href))
    .filter((link) => link.startsWith(root))
    .map((link) => link.slice(root.length));
}

/** The path of the page that a Turkish page is a translation of; of any other page, its own. */
export function originalOf(path: string): string {
  return path.replace(/^docs\/README\.tr\.md/, 'README.md').replace(/^docs\/tr\//, 'docs/');
}

/** Links to other pages. Those to a page that is translated lose their anchors, which are in the language of the page. */
function differenceOfLinks(original: Page, translation: Page): string[] {
  const links = linksOf(translation);
  const translated = new Set(links.filter((link) => originalOf(link) !== link).map((link) => originalOf(pathOf(link))));
  const [one, other] = [linksOf(original), links].map((all) =>
    all
      .map(originalOf)
      .map((link) => (translated.has(pathOf(link)) ? pathOf(link) : link))
      .filter((link) => pathOf(link) !== original.path)
      .sort(),
  );
  return difference('links', one!, other!);
}

function pathOf(link: string): string {
  return link.replace(/#.*/, '');
}

/** A page, and its path from the root of the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A heading, and what follows it up to the next one. */
interface Section {
  readonly level: number;
  readonly text: string;
  /** What is in backticks. */
  readonly names: readonly string[];
  readonly listItems: number;
  readonly tableRows: number;
  readonly code: readonly string[];
}

/**
 * What a translation has in common with its original: headings, lists, tables, code (but not its comments), names in
 * backticks, and links.
 */
export function structureOf(page: Page, original: Page, translation: Page) {
  const originals = sectionsOf(original.text);
  const sections = sectionsOf(page.text).map(({ text: _text, names, ...section }, index) => {
    const { names: known = [], text = '' } = originals[index] ?? {};
    // A plain word of English prose may be a name in Turkish: "the reference" is "`reference`".
    const shown = names.filter((name) => known.includes(name) || !text.includes(name));
    return { ...section, names: shown };
  });
  return { sections, links: linksBetween(page, original, translation) };
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
    level: /^#*/.exec(section)![0].length,
    text: section,
    names: namesIn(section),
    listItems: [...section.matchAll(/^(?:- |\d+\. )/gm)].length,
    tableRows: [...section.matchAll(/^\|/gm)].length,
    code: [...section.matchAll(/^@@(\d+)@@$/gm)].map(([, index]) => code[Number(index)]!),
  }));
}

function namesIn(section: string): string[] {
  const found = [...section.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.replace(/\s+/g, ' '));
  // Sentences are built in another order.
  return [...new Set(found)].sort();
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
function linksBetween(page: Page, original: Page, translation: Page): string[] {
  const turkish = linksOf(translation).filter((link) => originalOf(link) !== link);
  const translated = new Set(turkish.map((link) => originalOf(pathOf(link))));
  return linksOf(page)
    .map(originalOf)
    .map((link) => (translated.has(pathOf(link)) ? pathOf(link) : link))
    .filter((link) => pathOf(link) !== original.path)
    .sort();
}

function pathOf(link: string): string {
  return link.replace(/#.*/, '');
}

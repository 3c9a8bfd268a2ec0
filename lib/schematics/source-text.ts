/**
 * Edits of TypeScript source, to be formatted afterwards. Each returns null if it does not find its place: the file is
 * then left alone.
 */

const COMMENT_OR_TEXT = /\/\*[\s\S]*?(?:\*\/|$)|\/\/.*|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?|`(?:\\.|[^`\\])*`?/g;

/** The source, of the same length, without its comments, and with nothing to be found in its texts. */
export function codeOf(source: string): string {
  return source.replace(COMMENT_OR_TEXT, (text) => text.replace(/[^\n]/g, text.startsWith('/') ? ' ' : '_'));
}

/** Adds those modules to the imports of the one `@Module` that the source does not name yet; by each, its import. */
export function withModules(source: string, imports: Readonly<Record<string, string>>): string | null {
  const code = codeOf(source);
  const missing = Object.keys(imports).filter((module) => !code.includes(/^\w+/.exec(module)?.[0] ?? module));
  if (missing.length === 0) return source;
  const [module, another] = code.matchAll(/@Module\(\s*\{/g);
  const lastImport = [...source.matchAll(/^import\s[^;'"]{0,2000}(['"])[^'"\n]+\1;?$/gm)].at(-1);
  if (!module || another || !lastImport) return null;
  const start = module.index + module[0].length;
  const fields = code.slice(start, closingOf(code, start));
  const field = [...fields.matchAll(/\bimports\s*(:\s*\[)?/g)].find(
    ({ index }) => closingOf(fields, 0, index) === index,
  );
  if (field && !field[1]) return null;
  const list = field ? start + field.index + field[0].length : start;
  const end = field ? code.slice(0, closingOf(code, list)).trimEnd().length : list;
  const comma = { '[': '', ',': ' ' }[code.charAt(end - 1)] ?? ', ';
  const added = field ? comma + missing.join(', ') : `\n  imports: [${missing.join(', ')}],`;
  const statements = missing.map((name) => `\n${imports[name]}`).join('');
  return insert(insert(source, end, added), lastImport.index + lastImport[0].length, statements);
}

/** Adds a call that lets signals end the application in good order, after the statement that creates it. */
export function withShutdownHooks(source: string): string | null {
  const code = codeOf(source);
  if (code.includes('enableShutdownHooks')) return source;
  const created =
    /\b(?:const|let) (\w+)[^=;]{0,200}=\s*await NestFactory\s*\.create\b[^;]{0,2000}?\)(?:;|(?=\n)(?!\s*[),.]))/.exec(
      code,
    );
  if (!created) return null;
  const call = `${created[1]}.enableShutdownHooks(); // the process ends only after its payments have`;
  return insert(source, created.index + created[0].length, `\n${call}`);
}

function insert(source: string, index: number, text: string): string {
  return source.slice(0, index) + text + source.slice(index);
}

/** The index of the bracket that closes those before `start`, or `end` if it is reached without one, or -1. */
function closingOf(code: string, start: number, end = code.length): number {
  let depth = 0;
  for (let index = start; index < end; index += 1) {
    if ('([{'.includes(code.charAt(index))) depth += 1;
    if (')]}'.includes(code.charAt(index))) depth -= 1;
    if (depth < 0) return index;
  }
  return depth === 0 ? end : -1;
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { built } from '../rigs/built.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';

type Declaration = ts.Statement & {
  readonly name?: ts.Identifier;
  readonly members?: ts.NodeArray<ts.NamedDeclaration>;
};

const printer = ts.createPrinter({ removeComments: true });
const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly import: { readonly types: string } }>>;
};

/** The types of the build, without the constructors that only the module itself calls. */
function statementsOf(file: string): Declaration[] {
  const text = readFileSync(file, 'utf8').replace(/\/\*\* @hidden \*\/\s+constructor\(.*\);/g, '');
  return [...ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true).statements];
}

function nameOf(node: Declaration): string | undefined {
  return ts.isVariableStatement(node) ? node.declarationList.declarations[0]!.name.getText() : node.name?.text;
}

/** Without comments and private members. */
function textOf(node: Declaration): string {
  return printer
    .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replace(/^ +(?:private .*|#private;)\n/gm, '');
}

function membersOf(node: Declaration): readonly ts.NamedDeclaration[] {
  const type = ts.isVariableStatement(node) ? node.declarationList.declarations[0]!.type : undefined;
  return type && ts.isTypeLiteralNode(type) ? [...type.members] : (node.members ?? []);
}

const isExperimental = (node: ts.Node): boolean =>
  ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'experimental');

describe('the declarations of the package', () => {
  /** The exported names of each entry. */
  const entries = new Map<string, readonly string[]>();
  const declarations: Declaration[] = [];
  let isExported: (name: string) => boolean;

  beforeAll(() => {
    built();
    for (const [subpath, entry] of Object.entries(exports)) {
      if (typeof entry === 'string') continue;
      const names = statementsOf(entry.import.types).flatMap((node) =>
        ts.isExportDeclaration(node) && node.exportClause && ts.isNamedExports(node.exportClause)
          ? node.exportClause.elements.map(({ name }) => name.text)
          : [],
      );
      entries.set(subpath, names.sort());
    }
    const exported = new Set([...entries.values()].flat());
    isExported = (name) => exported.has(name);
    const files = readdirSync('dist/esm', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.d.ts'),
    );
    declarations.push(...files.sort().flatMap((file) => statementsOf(join('dist/esm', file))));
  });

  it('are what they were: all that is exported, and what that names', () => {
    const texts = new Map<string, string>();
    for (const node of declarations) {
      const name = nameOf(node);
      if (name !== undefined) texts.set(name, [...(texts.get(name)?.split('\n\n') ?? []), textOf(node)].join('\n\n'));
    }
    const named = new Set([...texts.keys()].filter(isExported));
    // A set grows while it is walked: what is named may name others.
    for (const name of named) {
      for (const word of texts.get(name)!.match(/\b[A-Za-z]\w+/g)!) if (texts.has(word)) named.add(word);
    }
    const sections = [...entries].map(([subpath, names]) => [`## ${subpath}`, ...names].join('\n'));
    const [own, others] = [true, false].map((which) =>
      [...named]
        .filter((name) => isExported(name) === which)
        .sort()
        .map((name) => texts.get(name)!),
    );
    const all = [...sections, '## What is exported', ...own!, '## What that names, and is not exported', ...others!];
    const expected = new ExpectedTexts(import.meta.url);
    expected.expect('declarations.txt', `${all.join('\n\n')}\n`);
    expected.expectNoOthers(['declarations.txt']);
  });

  it('are marked as experimental where docs/limits.md says so, and nowhere else', () => {
    const [, list = ''] =
      /^\*\*Experimental\*\*[\s\S]*?\n\n((?:[- ].*\n)+)/m.exec(readFileSync('docs/limits.md', 'utf8')) ?? [];
    const listed = Array.from(list.matchAll(/`([^`]+)`/g), ([, name]) => name);
    const marked = declarations.flatMap((node) => {
      // Options are described in the table that their type is made of.
      const name = nameOf(node)?.replace(/^OPTIONS$/, 'PaymentOptions') ?? '';
      if (!isExported(name)) return [];
      if (isExperimental(node)) return [name];
      return membersOf(node)
        .filter(isExperimental)
        .map((member) => `${name}.${member.name!.getText()}`);
    });
    expect(listed.length).toBeGreaterThan(0);
    expect([...new Set(marked)].sort()).toEqual(listed.sort());
  });
});

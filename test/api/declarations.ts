import { readFileSync } from 'node:fs';
import ts from 'typescript';

type Whole = ts.ClassDeclaration | ts.InterfaceDeclaration;
type Member = ts.ClassElement | ts.TypeElement;

const FORMAT = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
const printer = ts.createPrinter({ removeComments: true });

export interface Declarations {
  /**
   * What each subpath of package.json exports: each name with its declaration as in the .d.ts that a build would write.
   * Comments, private members and constructors marked `@hidden` are left out. So that moving code changes nothing here,
   * members are sorted, those of a base that is not exported stand in the class itself, and computed types are expanded.
   */
  readonly texts: ReadonlyMap<string, string>;
  /** What is marked `@experimental`: `CardBin`, and of what is not marked as a whole, members: `PaymentService.checkBin`. */
  readonly experimental: readonly string[];
}

export function exportedDeclarations(): Declarations {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Readonly<Record<string, string | { readonly import: { readonly types: string } }>>;
  };
  const entries = new Map<string, string>();
  for (const [subpath, entry] of Object.entries(exports)) {
    if (typeof entry !== 'string') entries.set(subpath, ts.sys.resolvePath(entry.import.types));
  }
  const surface = new Surface(declarationProgram([...entries.values()]), [...entries.values()]);
  const texts = new Map([...entries].map(([subpath, file]) => [subpath, surface.textOf(file)]));
  return { texts, experimental: surface.experimental() };
}

/** A program over declarations that are kept in memory: no build is needed, and none is left behind. */
function declarationProgram(entries: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile('tsconfig.build.json', (file) => ts.sys.readFile(file)) as { config: unknown };
  const { options: asBuilt } = ts.parseJsonConfigFileContent(config, ts.sys, ts.sys.getCurrentDirectory());
  // Each in a file of its own, where the entries are looked for.
  const declarationDir = ts.sys.resolvePath('dist/esm');
  const options = { ...asBuilt, declarationDir, stableTypeOrdering: true };
  const { rootDir = '' } = options;
  const roots = entries.map((entry) => entry.replace(declarationDir, rootDir).replace(/\.d\.ts$/, '.ts'));
  const sources = ts.createProgram(roots, { ...options, noCheck: true });
  const built = new Map<string, string>();
  sources.emit(undefined, (file, text) => void built.set(file, text), undefined, true);
  const host = ts.createCompilerHost(options);
  return ts.createProgram(
    [...entries],
    { ...options, rootDir: undefined },
    {
      ...host,
      directoryExists: () => true,
      fileExists: (file) => built.has(file) || host.fileExists(file),
      getSourceFile: (file, target) => {
        const text = built.get(file);
        if (text !== undefined) return ts.createSourceFile(file, text, target, true);
        return sources.getSourceFile(file) ?? host.getSourceFile(file, target);
      },
    },
  );
}

class Surface {
  private readonly checker: ts.TypeChecker;
  private readonly exported: ReadonlyMap<string, readonly ts.Symbol[]>;
  /** What files of the package export to each other only. */
  private readonly unexported = new Set<ts.Symbol>();

  constructor(program: ts.Program, entries: readonly string[]) {
    this.checker = program.getTypeChecker();
    this.exported = new Map(entries.map((entry) => [entry, this.exportsOf(program.getSourceFile(entry))]));
    const exported = new Set([...this.exported.values()].flat());
    const { declarationDir = '' } = program.getCompilerOptions();
    for (const file of program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(declarationDir))) {
      for (const local of this.checker.getSymbolsInScope(file, ts.SymbolFlags.Type | ts.SymbolFlags.Variable)) {
        const isOwn = local.declarations?.some((declaration) => declaration.getSourceFile() === file);
        const symbol = this.checker.getExportSymbolOfSymbol(local);
        if (isOwn && !(symbol.flags & ts.SymbolFlags.Alias) && !exported.has(symbol)) this.unexported.add(symbol);
      }
    }
  }

  textOf(entry: string): string {
    const exported = this.exported.get(entry) ?? [];
    const names = new Set(exported.map(({ name }) => name));
    const others = [...this.unexported].filter(
      ({ name, flags }) => !names.has(name) && !(flags & ts.SymbolFlags.Class),
    );
    const texts = new Map(exported.map((symbol) => [symbol, this.textOfSymbol(symbol)]));
    // A map grows while it is walked: what is named in a declaration may name others.
    for (const text of texts.values()) {
      const named = new Set(text.match(/\b[A-Z]\w+/g));
      for (const other of others) {
        if (named.has(other.name) && !texts.has(other)) texts.set(other, this.textOfSymbol(other));
      }
    }
    const all = [...texts.values()];
    const rest = all.splice(exported.length);
    return [...all, ...(rest.length > 0 ? ['// Named above, but not exported:', ...rest.sort()] : [])].join('\n\n');
  }

  experimental(): string[] {
    const isMarked = (symbol: ts.Symbol): boolean =>
      symbol.getJsDocTags(this.checker).some(({ name }) => name === 'experimental');
    const exported = [...new Set([...this.exported.values()].flat())];
    return exported.flatMap((symbol) => {
      if (isMarked(symbol)) return [symbol.name];
      if (!(symbol.flags & ts.SymbolFlags.Type)) return [];
      const members = this.checker.getDeclaredTypeOfSymbol(symbol).getProperties();
      return members.filter(isMarked).map((member) => `${symbol.name}.${member.name}`);
    });
  }

  private exportsOf(file: ts.SourceFile | undefined): ts.Symbol[] {
    const module = file && this.checker.getSymbolAtLocation(file);
    const symbols = module ? this.checker.getExportsOfModule(module) : [];
    return symbols.sort((one, other) => compare(one.name, other.name)).map((symbol) => this.resolved(symbol));
  }

  private resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  private textOfSymbol({ declarations = [] }: ts.Symbol): string {
    const texts = declarations.map((node) => {
      if (ts.isTypeAliasDeclaration(node)) return this.textOfAlias(node);
      if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) return this.textOfWhole(node);
      return ts.isVariableDeclaration(node) ? `const ${print(node)};` : print(node);
    });
    return texts.join('\n');
  }

  /** A type that is computed, or a union of texts, is told by what it is. */
  private textOfAlias(node: ts.TypeAliasDeclaration): string {
    const type = this.checker.getTypeAtLocation(node.name);
    const textOf = (part: ts.Type): string => this.checker.typeToString(part, undefined, FORMAT);
    const parts = type.isUnion() ? type.types : [];
    const isComputed = ts.isMappedTypeNode(node.type) || ts.isTypeReferenceNode(node.type);
    if (node.typeParameters || !(isComputed || parts.some((part) => part.isLiteral()))) return print(node);
    const head = `type ${node.name.text} =`;
    if (type.isUnion()) return [head, ...parts.map((part) => `    | ${textOf(part)}`).sort()].join('\n');
    const members = type.getProperties().map((property) => {
      const optional = property.flags & ts.SymbolFlags.Optional ? '?' : '';
      return `    ${property.name}${optional}: ${textOf(this.checker.getTypeOfSymbol(property))};`;
    });
    return [`${head} {`, ...members.sort(), '}'].join('\n');
  }

  private textOfWhole(node: Whole): string {
    const [head = ''] = print(node).split(' {\n');
    const bases = this.hiddenBases(node).map((base) => ` extends ${base.name?.text}`);
    const members = this.membersOf(node).map((member) => `    ${print(member).replaceAll('\n', '\n    ')}`);
    return [`${bases.reduce((text, base) => text.replace(base, ''), head)} {`, ...members, '}'].join('\n');
  }

  /** Those of hidden bases are among them. Overloads keep their order. */
  private membersOf(node: Whole): Member[] {
    const own = (node.members as ts.NodeArray<Member>).filter(isPublic);
    const inherited = this.hiddenBases(node).flatMap((base) => this.membersOf(base));
    const others = inherited.filter((member) => !own.some((one) => nameOf(one) === nameOf(member)));
    return [...own, ...others].sort((one, other) => compare(nameOf(one), nameOf(other)));
  }

  private hiddenBases({ heritageClauses = [] as unknown as ts.NodeArray<ts.HeritageClause> }: Whole): Whole[] {
    return heritageClauses
      .flatMap(({ types }) => types)
      .flatMap(({ expression }) => {
        const symbol = this.checker.getSymbolAtLocation(expression);
        const base = symbol && this.resolved(symbol);
        const declaration = base && this.unexported.has(base) ? base.declarations?.[0] : undefined;
        return declaration && (ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration))
          ? [declaration]
          : [];
      });
  }
}

function isPublic(member: Member): boolean {
  const isPrivate = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private;
  const isHidden = ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'hidden');
  return !isPrivate && !isHidden && !(member.name && ts.isPrivateIdentifier(member.name));
}

function nameOf(member: Member): string {
  return member.name?.getText() ?? (ts.isConstructorDeclaration(member) ? 'constructor' : '');
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function print(node: ts.Node): string {
  return printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
}

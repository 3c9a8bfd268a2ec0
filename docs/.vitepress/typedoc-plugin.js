// Makes the API reference read like the guide: modules by the path that they are imported from, no constructors and
// methods that nobody calls, and each page with its import.
import { Converter, ReflectionKind } from 'typedoc';
import { MarkdownPageEvent } from 'typedoc-plugin-markdown';

const PACKAGE = 'nestjs-card-payment';
/** Of the modules whose folder is not their path. */
const PATHS = { index: PACKAGE, 'store/sql': `${PACKAGE}/sql` };
const KINDS = {
  [ReflectionKind.Class]: 'Class',
  [ReflectionKind.Interface]: 'Interface',
  [ReflectionKind.Function]: 'Function',
};
/** What can be used at run time. Types are imported as such. */
const VALUES = ReflectionKind.Class | ReflectionKind.Function | ReflectionKind.Variable;

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      module.name = PATHS[module.name] ?? `${PACKAGE}/${module.name}`;
    }
    for (const constructor of project.getReflectionsByKind(ReflectionKind.Constructor)) {
      if (constructor.signatures?.every(({ parameters }) => !parameters?.length)) project.removeReflection(constructor);
    }
    // Hosts make a store and give it to the module, which alone calls its methods.
    for (const { name, children = [] } of project.getReflectionsByKind(ReflectionKind.Class)) {
      if (!name.endsWith('PaymentStore')) continue;
      for (const member of [...children]) {
        if (member.kind !== ReflectionKind.Constructor) project.removeReflection(member);
      }
    }
    // What TypeScript calls a parameter that is taken apart at once.
    for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
      if (parameter.name === '__namedParameters') parameter.name = 'input';
    }
  });

  app.renderer.on(MarkdownPageEvent.END, (page) => {
    const { name, kind, parent } = page.model;
    page.contents = withAnchors(withLinks(page.contents));
    if (!(kind in KINDS) || !parent) return;
    const module = parent.name;
    const word = kind & VALUES ? 'import' : 'import type';
    page.contents = page.contents.replace(
      /^# .*$/m,
      `<p class="eyebrow">${KINDS[kind]}</p>\n\n# ${name}\n\n\`\`\`ts\n${word} { ${name} } from '${module}';\n\`\`\``,
    );
  });
}

/** Docstrings name pages of the guide by their file. */
function withLinks(text) {
  return text.replace(/\bdocs\/((?:internals\/)?[\w-]+)\.md\b/g, '[docs/$1.md](/$1.md)');
}

/** Links to constants of the same page have dashes, where the headings, like those of the guide, are as on GitHub. */
function withAnchors(text) {
  const names = [...text.matchAll(/^#+ ((?:[A-Z\d]+\\_)+[A-Z\d]+)$/gm)].map(([, name]) => name.toLowerCase());
  return names.reduce((all, name) => {
    const [dashed, plain] = ['-', '_'].map((sign) => name.replaceAll('\\_', sign));
    return all.replaceAll(`(#${dashed})`, `(#${plain})`);
  }, text);
}

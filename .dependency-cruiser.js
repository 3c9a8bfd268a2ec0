/**
 * The folders of lib from top to bottom. A file may import from its own folder and from those in lower rows; folders in
 * one row do not import each other. CONTRIBUTING.md says what each is for.
 */
export const LAYERS = [
  ['cli', 'schematics', 'desk'],
  ['the root files'],
  ['module'],
  ['testing', 'health', 'swagger'],
  ['payment.service.ts'],
  ['simulator'],
  ['http'],
  ['reconciler'],
  ['operations'],
  ['settlement'],
  ['events'],
  ['options'],
  ['dto'],
  ['gateway'],
  ['store'],
  ['errors'],
  ['payment'],
  ['telemetry'],
  ['runtime'],
];

/** Imports nothing else of lib: a simulator that shared code with the client would share its mistakes. */
const LEAVES = ['simulator'];
/** But for this: how a page is escaped is no part of the wire. */
const LEAVES_MAY_IMPORT = '^lib/runtime/html[.]ts$';

/** Of the files beside the folders, PaymentService stands lower: the providers name its class. */
const ROOT_FILES = 'the root files';
const pathOf = (folder) => {
  if (folder === ROOT_FILES) return '^lib/(?!payment[.]service[.])[^/]+$';
  return folder.endsWith('.ts') ? `^lib/${folder}$` : `^lib/${folder}/`;
};
const pathsOf = (folders) => folders.map(pathOf);
const UNLISTED = { path: '^lib/', pathNot: pathsOf(LAYERS.flat()) };

const downwardsOnly = LAYERS.flatMap((row, depth) =>
  row
    .filter((folder) => depth > 0 && !LEAVES.includes(folder))
    .map((folder) => {
      const above = LAYERS.slice(0, depth).flat();
      const beside = row.filter((other) => other !== folder);
      const below = LAYERS.slice(depth + 1).flat();
      return {
        name: `${folder.replaceAll(' ', '-')}-imports-downwards-only`,
        comment:
          `lib/${folder} may import only from ${below.join(', ') || 'itself'}. Move what both files need down, into ` +
          `lib/${folder} or below it, or let the upper folder pass it in.`,
        severity: 'error',
        from: { path: pathOf(folder) },
        to: { path: pathsOf([...above, ...beside]) },
      };
    }),
);

const leaves = LEAVES.map((folder) => ({
  name: `${folder}-imports-nothing-of-lib`,
  comment: `lib/${folder} shares no code with the client, lest it share its mistakes. Give it code of its own.`,
  severity: 'error',
  from: { path: pathOf(folder) },
  to: { path: '^lib/', pathNot: [pathOf(folder), LEAVES_MAY_IMPORT] },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...downwardsOnly,
    ...leaves,
    ...[
      { from: UNLISTED, to: {} },
      { from: {}, to: UNLISTED },
    ].map((ends) => ({
      name: 'folder-has-no-layer',
      comment: 'A folder of lib stands in no layer. Give it a place in LAYERS in .dependency-cruiser.js.',
      severity: 'error',
      ...ends,
    })),
    {
      name: 'readings-know-no-dialect',
      comment: 'What an answer means is the same whatever the dialect. Let the dialect import the reading.',
      severity: 'error',
      from: { path: '^lib/gateway/readings/' },
      to: { path: '^lib/gateway/dialects/' },
    },
    {
      name: 'simulator-is-loaded-on-demand',
      comment: 'An application with a real gateway loads no simulator. Use import(), or import its types alone.',
      severity: 'error',
      from: { path: pathsOf([ROOT_FILES, 'module']) },
      to: { path: '^lib/simulator/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'lib-imports-lib-only',
      comment: 'lib is what is published: it imports nothing of bench, sample or test.',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^(bench|sample|test)/' },
    },
    {
      name: 'no-circle',
      comment: 'These files import each other in a circle. Move what both need to a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'import-not-found',
      comment: 'This import leads to no file, so no rule can judge it. Mend the path.',
      severity: 'error',
      from: {},
      to: { path: '^[.]', couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // An import of a type counts like any other.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};

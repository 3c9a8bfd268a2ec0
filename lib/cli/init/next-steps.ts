import type { NestProject, PackageManager } from './nest-project.js';
import { PACKAGES, STEPS } from './tutorial-files.js';

/** A command, as words. */
export type Words = readonly [program: string, ...args: string[]];

const ADD: Readonly<
  Record<PackageManager, { readonly add: Words; readonly development: Words; readonly run: string }>
> = {
  npm: { add: ['npm', 'install'], development: ['npm', 'install', '-D'], run: 'npx' },
  pnpm: { add: ['pnpm', 'add'], development: ['pnpm', 'add', '-D'], run: 'pnpm exec' },
  yarn: { add: ['yarn', 'add'], development: ['yarn', 'add', '-D'], run: 'yarn run' },
};
/** npm chooses the versions for an old Node.js by itself. */
const FOR_NODE_20: Readonly<Record<string, string>> = { kysely: 'kysely@0.28', 'better-sqlite3': 'better-sqlite3@12' };
const NODE_MAJOR = Number(process.versions.node.split('.', 1)[0]);

/** The commands that install what package.json lacks; none if it lacks nothing. */
export function installCommands(project: NestProject, nodeMajor = NODE_MAJOR): Words[] {
  const { adapter, nest, packageManager, dependencies, devDependencies } = project;
  const { needed, development, fastify } = PACKAGES[nest];
  const { add, development: addDevelopment } = ADD[packageManager];
  const platform = adapter === 'fastify' ? fastify : [`@nestjs/platform-express@${nest}`];
  const missing = [...needed, ...platform].filter((name) => !dependencies.includes(bare(name)));
  const known = [...dependencies, ...devDependencies];
  const missingDevelopment = development.filter((name) => !known.includes(bare(name)));
  const pinned =
    packageManager !== 'npm' && nodeMajor < 22 ? missing.map((name) => FOR_NODE_20[name] ?? name) : missing;
  return [
    ...(pinned.length === 0 ? [] : [[...add, ...pinned] as const]),
    ...(missingDevelopment.length === 0 ? [] : [[...addDevelopment, ...missingDevelopment] as const]),
  ];
}

/** What the merchant does next, up to the command that shows a paid order. */
export function nextSteps(project: NestProject, install: readonly Words[], port: string): string {
  const { packageManager, scripts } = project;
  const start = scripts.includes('start') ? `${packageManager} run start` : `${ADD[packageManager].run} nest start`;
  const hasTests = scripts.includes('test:e2e') && project.devDependencies.includes('supertest');
  return [
    ...(install.length === 0 ? [] : ['Install:', ...install.map((words) => `  ${words.join(' ')}`), '']),
    ...installNotes(project, install),
    ...(hasTests ? ['Pay an order in a test, without a browser:', `  ${packageManager} run test:e2e`, ''] : []),
    'Start the shop:',
    `  ${start}`,
    `Then open http://localhost:${port} and order:`,
    ...STEPS.map((step, index) => `  ${index + 1}. ${step}`),
    '',
    'Show the paid order (its id is the reference):',
    `  ${ADD[packageManager].run} nestjs-card-payment payments list --state succeeded`,
  ].join('\n');
}

function installNotes({ packageManager }: NestProject, install: readonly Words[]): string[] {
  if (!install.flat().includes('better-sqlite3@12')) return [];
  return packageManager === 'pnpm'
    ? ['better-sqlite3 12 has an install script: run "pnpm approve-builds --all" after that.', '']
    : ['better-sqlite3 12 has an install script, which Yarn 4 runs only if package.json says:']
        .concat('  "dependenciesMeta": { "better-sqlite3": { "built": true } }')
        .concat('');
}

/** The name without the version: `@nestjs/axios` of `@nestjs/axios@12`. */
function bare(name: string): string {
  return name.replace(/(?<=.)@.*$/, '');
}

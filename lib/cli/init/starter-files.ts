import { createHash } from 'node:crypto';

/**
 * The files of `nest new` that the tutorial replaces or makes useless, each with the SHA-256 of its text as
 * @nestjs/schematics 11.0.0 to 12.0.6 write it, CommonJS and ES modules: without white space, without `.js` in imports.
 */
const STARTER_FILES: Readonly<Record<string, readonly string[]>> = {
  'src/main.ts': [
    'b902bcec198dabbeb98e31af641963c8ed4454a65c6759fdd14b96b5c374faf7',
    '4827306c2eb31c37c8bdea93094a741709594c82848267408c8482b3059d1e44',
    'e44f551d805f43077b7312b0f2f0fd4c1030c3e89e68643d2b62e64716f4486b',
  ],
  'src/app.module.ts': ['63841b9f7fb39c03373c125f74e8cf5698a68c4c022c249364ad690a92ad147d'],
  'src/app.controller.ts': ['27e8b1f2d0dc3bd8b2166ce76207934dc8fdb05ac38b7b3121bf4b76a6feb17b'],
  'src/app.controller.spec.ts': ['5c569c402858a73b61b73fed3b01ce500e78a106475e4d318cd6e2d231a23c2a'],
  'src/app.service.ts': ['95d4b07521169309ebb3d1690d0dc786c704850dde1a0032b80766d586804eb2'],
  'test/app.e2e-spec.ts': [
    '7bbb5cae1434961f52df65a8e0cf82a3f3101b6882d07154b20abbed3743ac82',
    '2480dddaf10f584a90cb7f7acda6eb431414bb3d8e6e8b512d2b724c363a928d',
    'fa41230ff239faa061187d02f2553db7b9f16b8d6135226ab75a560682e8f7ab',
  ],
};

/** Those that the tutorial has no file for. */
export const OBSOLETE_FILES = [
  'src/app.controller.ts',
  'src/app.controller.spec.ts',
  'src/app.service.ts',
  'test/app.e2e-spec.ts',
] as const;

/** Whether a file is still as `nest new` wrote it. */
export function isStarterFile(path: string, text: string): boolean {
  const essence = text.replace(/\.js(?=['"])/g, '').replace(/\s+/g, '');
  return STARTER_FILES[path]?.includes(createHash('sha256').update(essence).digest('hex')) ?? false;
}

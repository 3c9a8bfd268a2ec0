import { CHROMIUM_NAMES, requireExecutable } from './executables.mjs';

/** The path of the installed Chromium or Chrome; throws where there is none. */
export function findChromium(): string {
  return requireExecutable(...CHROMIUM_NAMES);
}

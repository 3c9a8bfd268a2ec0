import { CHROMIUM_NAMES, requireExecutable } from './executables.mjs';

/** The path of the Chromium or Chrome on this machine; throws where there is none. */
export function findChromium(): string {
  return requireExecutable(...CHROMIUM_NAMES);
}

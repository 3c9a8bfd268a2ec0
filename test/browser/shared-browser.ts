import type { Browser } from 'playwright-core';
import { launchBrowser } from './browser.js';

let shared: Promise<Browser> | undefined;
let isKept = false;

/** A browser for the tests of this `describe`. All suites of the room have the same one. */
export function useBrowser(): { readonly browser: Browser } {
  const used = {} as { browser: Browser };
  beforeAll(async () => {
    shared ??= launchBrowser();
    used.browser = await shared;
  }, 60_000);
  afterAll(() => (isKept ? undefined : closeBrowser()));
  return used;
}

/** For the room: keeps the browser open from one suite to the next. */
export function keepBrowser(): void {
  isKept = true;
  afterAll(closeBrowser);
}

async function closeBrowser(): Promise<void> {
  await (await shared)?.close();
  shared = undefined;
}

import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { sample } from '../rigs/extent.js';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

/** In the short tests, each width and each scheme once. */
const LOOKS = sample(3, [
  { width: 1200, colorScheme: 'light' },
  { width: 1200, colorScheme: 'dark' },
  { width: 320, colorScheme: 'light' },
  { width: 320, colorScheme: 'dark' },
] as const);

/** The problems for people who cannot see the page, or not well; one line each. */
export async function barriersOf(page: Page): Promise<string[]> {
  const barriers = await namesThatDiffer(page);
  const headings = await page.locator('h1').count();
  if (headings !== 1) barriers.push(`${headings} h1 instead of one`);
  for (const { width, colorScheme } of LOOKS) {
    const look = `${width} px, ${colorScheme}`;
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    barriers.push(...(await barriersInLook(page, look)));
  }
  return barriers;
}

/**
 * Those of a page without frames, as it is shown now. `@axe-core/playwright` took ten times as long: it brings axe into
 * the page for each run, and gets all that is right with the page as well.
 *
 * @param moreTags of axe's rules
 */
export async function barriersInLook(page: Page, look: string, moreTags: readonly string[] = []): Promise<string[]> {
  if (await page.evaluate<boolean>('typeof axe === "undefined"')) await page.evaluate(axe.source);
  const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  const options: RunOptions = {
    runOnly: { type: 'tag', values: [...TAGS, ...moreTags] },
    resultTypes: ['violations'],
  };
  // As text, since it runs in the browser.
  const run = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = await page.evaluate<AxeResults['violations']>(run);
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${look}: ${id}: ${target.join()}: ${failureSummary}`),
  );
  return isTooWide ? [`${look}: scrolls sideways`, ...found] : found;
}

/** People who control the browser by voice say what they see, so a name has to begin with the visible text. */
async function namesThatDiffer(page: Page): Promise<string[]> {
  const named = await page.locator(':is(a, button, summary)[aria-label]').all();
  const names = named.map(async (element) => [await element.getAttribute('aria-label'), await element.innerText()]);
  return (await Promise.all(names))
    .filter(([name, seen]) => !name?.startsWith(seen ?? ''))
    .map(([name, seen]) => `“${seen}” is named “${name}”`);
}

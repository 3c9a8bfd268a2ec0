import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

const LOOKS = [1200, 320].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** The problems for people who cannot see the page, or not well; one line each. */
export async function barriersOf(page: Page): Promise<string[]> {
  const barriers = await namesThatDiffer(page);
  const headings = await page.locator('h1').count();
  if (headings !== 1) barriers.push(`${headings} h1 instead of one`);
  for (const { width, colorScheme } of LOOKS) {
    const look = `${width} px, ${colorScheme}`;
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    if (isTooWide) barriers.push(`${look}: scrolls sideways`);
    // The page has no frames, so legacy mode is enough; otherwise axe opens a second page for every run.
    const { violations } = await new AxeBuilder({ page }).withTags(TAGS).setLegacyMode().analyze();
    for (const { id, nodes } of violations) {
      barriers.push(
        ...nodes.map(({ target, failureSummary }) => `${look}: ${id}: ${target.join()}: ${failureSummary}`),
      );
    }
  }
  return barriers;
}

/** People who control the browser by voice say what they see, so a name has to begin with the visible text. */
async function namesThatDiffer(page: Page): Promise<string[]> {
  const named = await page.locator(':is(a, button, summary)[aria-label]').all();
  const names = named.map(async (element) => [await element.getAttribute('aria-label'), await element.innerText()]);
  return (await Promise.all(names))
    .filter(([name, seen]) => !name?.startsWith(seen ?? ''))
    .map(([name, seen]) => `“${seen}” is named “${name}”`);
}

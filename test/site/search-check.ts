import type { Page } from 'playwright-core';
import { until } from '../services/until.js';

/** Looks for a word: what is found is shown with the text around it. */
export async function searchProblems(page: Page, address: string, word: string): Promise<string[]> {
  await page.goto(address);
  const input = page.locator('#localsearch-input');
  // A click before the page is hydrated opens nothing.
  await until(async () => {
    await page
      .locator('.DocSearch-Button')
      .click({ timeout: 2_000 })
      .catch(() => undefined);
    return input.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
  });
  await input.fill(word);
  const excerpt = page.locator('.excerpt', { hasText: new RegExp(word, 'i') }).first();
  const isShown = await excerpt.waitFor({ timeout: 20_000 }).then(
    () => true,
    () => false,
  );
  return isShown ? [] : [`a search for "${word}" shows no text around it`];
}

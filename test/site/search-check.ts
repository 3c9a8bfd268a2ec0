import type { Page } from 'playwright-core';

/** Looks for a word: what is found is shown with the text around it. */
export async function searchProblems(page: Page, address: string, word: string): Promise<string[]> {
  await page.goto(address);
  await page.locator('.DocSearch-Button').click();
  await page.locator('#localsearch-input').fill(word);
  const excerpt = page.locator('.excerpt', { hasText: new RegExp(word, 'i') }).first();
  const isShown = await excerpt.waitFor({ timeout: 20_000 }).then(
    () => true,
    () => false,
  );
  return isShown ? [] : [`a search for "${word}" shows no text around it`];
}

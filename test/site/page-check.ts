import type { Page } from 'playwright-core';
import { barriersInLook } from '../browser/accessible-page.js';

/** Each width and each colour once: the colours are the same in both widths. */
const LOOKS = [
  { width: 1300, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
] as const;

/** What a page says about itself and where it leads. */
export interface PageFacts {
  readonly ids: readonly string[];
  readonly links: readonly string[];
}

export interface CheckedPage extends PageFacts {
  readonly problems: readonly string[];
}

/** Reads one page in each of its looks. `picture` is called in each, for those who want to see it. */
export async function checkPage(
  page: Page,
  address: string,
  picture: (look: string) => Promise<unknown> = async () => {},
): Promise<CheckedPage> {
  const problems: string[] = [];
  page.removeAllListeners();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== new URL(address).origin) problems.push(`asks ${request.url()}`);
  });

  await page.setViewportSize({ width: 1300, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(address);
  await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined');
  // Colours that are still on their way from light to dark have no contrast.
  await page.addStyleTag({ content: '*, ::before, ::after { transition: none !important }' });
  problems.push(...(await page.evaluate<string[]>(`(${flawsOf.toString()})()`)));

  // The reference's pages are made from one template, and narrow pages show what is too long for it.
  const isOfReference = new URL(address).pathname.includes('/reference/');
  for (const { width, colorScheme } of LOOKS) {
    const look = `${width} px, ${colorScheme}`;
    await page.setViewportSize({ width, height: width > 1000 ? 800 : 740 });
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction(`document.documentElement.classList.contains('dark') === ${colorScheme === 'dark'}`);
    problems.push(...(await page.evaluate<string[]>(`(${tornOf.toString()})()`)).map((what) => `${width} px: ${what}`));
    const isAsOthers = isOfReference && width > 1000;
    if (!isAsOthers) problems.push(...(await barriersInLook(page, look, ['wcag22aa'])));
    await picture(`${width}-${colorScheme}`);
  }
  return { problems, ...(await page.evaluate<PageFacts>(`(${factsOf.toString()})()`)) };
}

/** Runs in the browser. */
interface Element {
  readonly id: string;
  readonly href: string;
  readonly textContent: string;
  getAttribute(name: string): string | null;
  getBoundingClientRect(): { readonly right: number };
  getClientRects(): { readonly length: number };
}
declare const document: {
  readonly title: string;
  readonly body: { readonly innerText: string };
  querySelectorAll(selector: string): Iterable<Element>;
};
declare const innerWidth: number;
declare function getComputedStyle(element: Element): { readonly overflowX: string };

function flawsOf(): string[] {
  const flaws: string[] = [];
  const count = (selector: string) => [...document.querySelectorAll(selector)].length;
  if (count('h1') !== 1) flaws.push(`${count('h1')} h1 instead of one`);
  if (/sequenceDiagram|stateDiagram|flowchart |\[\*\] -->/.test(document.body.innerText)) {
    flaws.push('shows the source of a diagram');
  }
  for (const selector of ['meta[name=description]', 'meta[property="og:title"]', 'link[rel=icon]']) {
    if (count(selector) !== 1) flaws.push(`${count(selector)} ${selector}`);
  }
  for (const image of document.querySelectorAll('main img'))
    if (!image.getAttribute('alt')) flaws.push('img without alt');
  return flaws;
}

/** Words of code that are broken, and code that leaves its frame or the window. */
function tornOf(): string[] {
  const all = (selector: string) => [...document.querySelectorAll(selector)];
  const words = all('code .word').filter((word) => word.getClientRects().length > 1);
  const frames = all('div[class*=language-] > pre').filter(
    (frame) => getComputedStyle(frame).overflowX !== 'auto' || frame.getBoundingClientRect().right > innerWidth,
  );
  return [
    ...words.map(({ textContent }) => `breaks ${textContent}`),
    ...frames.map(({ textContent }) => `code leaves its frame: ${textContent.slice(0, 40)}`),
  ];
}

function factsOf(): PageFacts {
  return {
    ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    links: [...document.querySelectorAll('a[href]')].map(({ href }) => href),
  };
}

import { until } from '../services/until.js';

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

/** The headers with which a browser asks for a page. */
const ACCEPT = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'en' };

/** A buyer with a browser without scripts, who reads a page, fills in its form and presses the first button. */
export class GuideBuyer {
  constructor(private readonly shop: string) {}

  /** Waits until the shop listens. */
  waitForShop(): Promise<void> {
    const answered = () =>
      fetch(this.shop).then(
        () => true,
        () => false,
      );
    return until(answered);
  }

  async open(path: string): Promise<Page> {
    return pageOf(await fetch(new URL(path, this.shop), { headers: ACCEPT }));
  }

  /** Pays from the card form through the page of the bank and back. */
  async pay(form: Page, typed: Readonly<Record<string, string>>, code: string): Promise<Page> {
    const toTheBank = await this.submit(form, typed);
    const atTheBank = await this.submit(toTheBank);
    const back = await this.submit(atTheBank, { code });
    return this.submit(back);
  }

  async submit({ url, html }: Page, typed: Readonly<Record<string, string>> = {}): Promise<Page> {
    const form = /<form([^>]*)>([\s\S]*?)<\/form>/.exec(html);
    if (!form) throw new Error(`${url} has no form: ${html}`);
    const [, attributes = '', content = ''] = form;
    const fields = [...content.matchAll(/<input([^>]*)>/g)].map(([, input = '']) => {
      const name = attribute(input, 'name');
      return [name, typed[name] ?? attribute(input, 'value')];
    });
    const button = /<button([^>]*)>/.exec(content)?.[1] ?? '';
    if (attribute(button, 'name')) fields.push([attribute(button, 'name'), attribute(button, 'value')]);
    const action = new URL(attribute(attributes, 'action') || url, url);
    const body = new URLSearchParams(fields as [string, string][]);
    return pageOf(await fetch(action, { method: 'POST', headers: ACCEPT, body }));
  }
}

async function pageOf(response: Response): Promise<Page> {
  const { url, status, headers } = response;
  return { url, status, headers, html: await response.text() };
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
  return value
    .replace(/&(?:#39|#x27|apos);/g, "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

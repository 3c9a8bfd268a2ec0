import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { goingBackPage, messagePage } from './hosted-page-html.js';
import { PAGE_PATH, type HostedCallback, type HostedPage, type HostedPages, type TypedCard } from './hosted-pages.js';
import { receiveText, showPage } from './http.js';
import { languageOf, type PageLanguage } from './page-layout.js';
import type { SimulatorSettings } from './simulator-options.js';

/** The gateway's own page at `/hosted/{session}`, and where its embedded form posts to. */
export class HostedPageServer {
  constructor(
    private readonly settings: SimulatorSettings,
    private readonly pages: HostedPages,
  ) {}

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.settings.publicUrl);
    const form = new URLSearchParams(request.method === 'POST' ? ((await receiveText(request)) ?? '') : '');
    const { pathname } = url;
    const page = this.pages.page(
      pathname.startsWith(PAGE_PATH) ? pathname.slice(PAGE_PATH.length) : (form.get('session') ?? ''),
    );
    const language = languageOf(form.get('lang') ?? url.searchParams.get('lang') ?? page?.request.language);
    if (!page) return showPage(response, 404, messagePage(language, 'gone'));
    if (page.charged) return this.goBack(response, page.charged.callback, language);
    if (!this.pages.canBePaid(page)) return showPage(response, 410, messagePage(language, 'gone'));

    const action = form.get('action');
    if (action === 'pay') return this.pay(response, page, typedCard(form, page), language);
    if (action === 'cancel') return this.goBack(response, this.pages.cancel(page), language);
    showPage(response, 200, this.pages.html(page, language));
  }

  private async pay(
    response: ServerResponse,
    page: HostedPage,
    card: TypedCard,
    language: PageLanguage,
  ): Promise<void> {
    const wrongFields = this.pages.wrongFields(page, card);
    if (wrongFields.length > 0) return showPage(response, 200, this.pages.html(page, language, wrongFields));
    const { pace, callback } = this.pages.pay(page, card);
    if (pace === 'slow') await delay(this.settings.slowMs, undefined, { ref: false });
    this.goBack(response, callback, language);
  }

  private goBack(response: ServerResponse, callback: HostedCallback, language: PageLanguage): void {
    if (callback.copies === 0) return showPage(response, 200, messagePage(language, 'noAnswer'));
    showPage(response, 200, goingBackPage(language, callback.url, callback.fields, callback.charged));
  }
}

/** The fields as people type them: the number in groups, the date as 12/30, 12 / 2030 or 1230. */
function typedCard(form: URLSearchParams, { request }: HostedPage): TypedCard {
  const text = (name: string) => (form.get(name) ?? '').replace(/\s/g, '');
  const [, month = '', year = ''] = /^(\d\d)\/?(?:20)?(\d\d)$/.exec(text('expDate')) ?? [];
  return {
    cardNo: text('cardNo'),
    expDate: month + year,
    cvv: text('cvv'),
    installmentCount: Number(form.get('installmentCount') ?? (request.installmentCount || 1)),
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bank, BankCallback, BankSession } from './bank.js';
import { goingBackPage, messagePage, verificationPage } from './buyer-pages.js';
import { FORM_PATH, PAGE_PATH, type HostedPage, type HostedPages, type TypedCard } from './hosted-pages.js';
import { receiveText, showPage } from './http.js';
import { languageOf, type PageLanguage } from './page-layout.js';
import type { SimulatorSettings } from './simulator-options.js';

const BANK_PATH = '/acs/';

/** What a buyer's browser asks for. */
interface Visit {
  readonly response: ServerResponse;
  readonly path: string;
  readonly form: URLSearchParams;
  /** The language of the page, unless the buyer chose none: then that of the payment. */
  readonly languageOr: (ofPayment: string | undefined) => PageLanguage;
}

/** The pages that buyers see: the bank's at `/acs/{session}`, and the gateway's own at `/hosted/{session}`. */
export class BuyerServer {
  constructor(
    private readonly settings: SimulatorSettings,
    private readonly bank: Bank,
    private readonly pages: HostedPages,
  ) {}

  isFor(path: string): boolean {
    return [BANK_PATH, PAGE_PATH, FORM_PATH].some((start) => path.startsWith(start));
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.settings.publicUrl);
    const form = new URLSearchParams(request.method === 'POST' ? ((await receiveText(request)) ?? '') : '');
    const languageOr = (ofPayment: string | undefined) =>
      languageOf(form.get('lang') ?? url.searchParams.get('lang') ?? ofPayment);
    const visit: Visit = { response, path: url.pathname, form, languageOr };
    return visit.path.startsWith(BANK_PATH) ? this.atBank(visit) : this.atGateway(visit);
  }

  private async atBank({ response, path, form, languageOr }: Visit): Promise<void> {
    const session = this.bank.session(path.slice(BANK_PATH.length));
    const language = languageOr(session?.sale.language);
    if (!session) return showPage(response, 404, messagePage(language, 'noVerification'));

    const action = form.get('action');
    if (action === 'cancel') this.bank.cancel(session);
    const wrongCode = action === 'confirm' && this.bank.enter(session, form.get('code')?.trim() ?? '') === null;
    if (!session.result) return showPage(response, 200, this.verification(session, language, wrongCode));
    const { callback } = session.result;
    if (callback.late) await this.takeLong();
    if (callback.copies === 2) await sendAhead(callback.request);
    const isSent = callback.copies > 0;
    showPage(response, 200, isSent ? goingBackPage(language, callback) : messagePage(language, 'verified'));
  }

  private verification(session: BankSession, language: PageLanguage, wrongCode: boolean): string {
    const { publicUrl, merchantName, clock } = this.settings;
    const address = publicUrl + BANK_PATH + session.id;
    const { triesLeft, sale } = session;
    return verificationPage({
      ...sale,
      ...{ address, action: address, language, merchantName, at: clock(), triesLeft, wrongCode },
    });
  }

  private async atGateway({ response, path, form, languageOr }: Visit): Promise<void> {
    const isPage = path.startsWith(PAGE_PATH);
    const page = this.pages.page(isPage ? path.slice(PAGE_PATH.length) : (form.get('session') ?? ''));
    const language = languageOr(page?.request.language);
    if (!page) return showPage(response, 404, messagePage(language, 'noPage'));
    const action = form.get('action');
    const card = action === 'pay' ? typedCard(form, page) : null;

    if (!page.charged) {
      if (!this.pages.canBePaid(page)) return showPage(response, 410, messagePage(language, 'noPage'));
      const wrongFields = card ? this.pages.wrongFields(page, card) : [];
      const isShown = wrongFields.length > 0 || (!card && action !== 'cancel');
      if (isShown) return showPage(response, 200, this.pages.html(page, language, wrongFields));
    }
    const tried = card && !page.charged ? this.pages.pay(page, card) : null;
    const { pace, callback } = tried ?? { pace: 'at once', callback: this.pages.cancel(page) };
    if (pace === 'slow') await this.takeLong();
    if (callback.copies === 0) return showPage(response, 200, messagePage(language, 'noAnswer'));
    showPage(response, 200, goingBackPage(language, callback, callback.charged ? 'paid' : 'goingBack'));
  }

  private takeLong(): Promise<void> {
    return delay(this.settings.slowMs, undefined, { ref: false });
  }
}

/** The first of two copies. */
async function sendAhead(request: BankCallback['request']): Promise<void> {
  try {
    await (await fetch(request.url, { ...request, redirect: 'manual' })).arrayBuffer();
  } catch {
    // The browser brings the second.
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bank, BankCallback, BankSession } from './bank.js';
import { callbackPage, messagePage, verificationPage } from './bank-pages.js';
import { receiveText, showPage } from './http.js';
import { languageOf, type PageLanguage } from './page-layout.js';
import type { SimulatorSettings } from './simulator-options.js';

/** The bank's pages at `/acs/{session}`: what the buyer's browser sees. */
export class BankServer {
  constructor(
    private readonly settings: SimulatorSettings,
    private readonly bank: Bank,
  ) {}

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.settings.publicUrl);
    const form = new URLSearchParams(request.method === 'POST' ? ((await receiveText(request)) ?? '') : '');
    const session = this.bank.session(url.pathname.slice('/acs/'.length));
    const language = languageOf(form.get('lang') ?? url.searchParams.get('lang') ?? session?.sale.language);
    if (!session) return showPage(response, 404, messagePage(language, 'gone'));

    const action = form.get('action');
    if (action === 'cancel') this.bank.cancel(session);
    const wrongCode = action === 'confirm' && this.bank.enter(session, form.get('code')?.trim() ?? '') === null;
    if (session.result) return this.goBack(response, session.result.callback, language);
    showPage(response, 200, this.verification(session, language, wrongCode));
  }

  private verification(session: BankSession, language: PageLanguage, wrongCode: boolean): string {
    const { amount, currencyCode, installmentCount, maskedCardNumber } = session.sale;
    return verificationPage({
      action: `${this.settings.publicUrl}/acs/${session.id}`,
      language,
      merchantName: this.settings.merchantName,
      amount,
      currencyCode,
      installmentCount,
      maskedCardNumber,
      at: this.settings.clock(),
      triesLeft: session.triesLeft,
      wrongCode,
    });
  }

  private async goBack(response: ServerResponse, callback: BankCallback, language: PageLanguage): Promise<void> {
    if (callback.late) await delay(this.settings.slowMs, undefined, { ref: false });
    if (callback.copies === 0) return showPage(response, 200, messagePage(language, 'done'));
    if (callback.copies === 2) await sendAhead(callback.request);
    showPage(response, 200, callbackPage(language, callback.url, callback.fields));
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { formPage, type FormView, goingBackPage, messagePage } from './buyer-pages.js';
import { receiveText } from './gateway-server.js';
import { languageOf } from './page-layout.js';
import type { SimulatorSettings } from './simulator-options.js';
import {
  type Bank,
  BANK_PATH,
  type BankCallback,
  FORM_PATH,
  type HostedPages,
  isAtBank,
  PAGE_PATH,
  type PageTry,
  type TypedCard,
  type Visit,
  type Visits,
} from './visits.js';

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** What comes of a visitor's request: the callback that is brought to the merchant, or the form again. */
type Result = Pick<FormView, 'wrongFields'> | { readonly pace: PageTry['pace']; readonly callback: BankCallback };

/** The pages that buyers see: the bank's at `/acs/{session}`, and the gateway's own at `/hosted/{session}`. */
export class BuyerServer {
  constructor(
    private readonly settings: SimulatorSettings,
    private readonly visits: Visits,
    private readonly bank: Bank,
    private readonly pages: HostedPages,
  ) {}

  isFor(path: string): boolean {
    return [BANK_PATH, PAGE_PATH, FORM_PATH].some((start) => path.startsWith(start));
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', this.settings.publicUrl);
    const form = new URLSearchParams(request.method === 'POST' ? ((await receiveText(request)) ?? '') : '');
    const show = (status: number, page: string) => void response.writeHead(status, PAGE_HEADERS).end(page);
    const visit = this.visitAt(path, form);
    // The language that the buyer chose, or else that of the payment.
    const language = languageOf(form.get('lang') ?? searchParams.get('lang') ?? visit?.request.language);
    if (!visit) return show(404, messagePage(language, path.startsWith(BANK_PATH) ? 'noVerification' : 'noPage'));
    if (visit.isClosed && !visit.charged) return show(410, messagePage(language, 'noPage'));

    const result = isAtBank(visit) ? this.atBank(visit, form) : this.atGateway(visit, form);
    if ('wrongFields' in result) return show(200, formPage({ visit, settings: this.settings, language, ...result }));
    const { pace, callback } = result;
    if (pace === 'slow') await delay(this.settings.slowMs, undefined, { ref: false });
    if (callback.copies === 2) await sendAhead(callback.request);
    if (callback.copies > 0) return show(200, goingBackPage(language, callback, visit.charged ? 'paid' : 'goingBack'));
    show(200, messagePage(language, isAtBank(visit) ? 'verified' : 'noAnswer'));
  }

  private visitAt(path: string, form: URLSearchParams): Visit | undefined {
    const isBank = path.startsWith(BANK_PATH);
    const id = path.startsWith(FORM_PATH) ? form.get('session') : path.slice((isBank ? BANK_PATH : PAGE_PATH).length);
    const visit = this.visits.withId(id ?? '');
    return visit && isAtBank(visit) === isBank ? visit : undefined;
  }

  private atBank(visit: Visit, form: URLSearchParams): Result {
    const action = form.get('action');
    if (action === 'cancel') this.bank.cancel(visit);
    if (action === 'confirm') this.bank.typeCode(visit, form.get('code')?.trim() ?? '');
    if (!visit.verification) return { wrongFields: action === 'confirm' ? ['code'] : [] };
    const { callback } = visit.verification;
    return { pace: callback.late ? 'slow' : 'at once', callback };
  }

  private atGateway(visit: Visit, form: URLSearchParams): Result {
    const action = form.get('action');
    if (visit.charged || action === 'cancel') return { pace: 'at once', callback: this.pages.cancel(visit) };
    if (action !== 'pay') return { wrongFields: [] };
    const card = typedCard(form, visit);
    const wrongFields = this.pages.wrongFields(visit, card);
    return wrongFields.length > 0 ? { wrongFields } : this.pages.pay(visit, card);
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
function typedCard(form: URLSearchParams, { request }: Visit): TypedCard {
  const text = (name: string) => (form.get(name) ?? '').replace(/\s/g, '');
  const [, month = '', year = ''] = /^(\d\d)\/?(?:20)?(\d\d)$/.exec(text('expDate')) ?? [];
  return {
    cardNo: text('cardNo'),
    expDate: month + year,
    cvv: text('cvv'),
    installmentCount: Number(form.get('installmentCount') ?? (request.installmentCount || 1)),
  };
}

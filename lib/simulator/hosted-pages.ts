import { randomUUID } from 'node:crypto';
import { INSTALMENT_COUNTS } from './bins.js';
import { type BankCallback, formRequest } from './bank.js';
import { referencePrefix } from './wire-values.js';
import { paymentPage, type PaymentView } from './buyer-pages.js';
import { fieldRules, type GatewayRequest, maskedCard } from './requests.js';
import type { Charge, Ledger } from './ledger.js';
import { type BankVerdict, codeText, currentTestCards, pageVerdict, TEST_CARDS } from './magic.js';
import { languageOf, type PageLanguage } from './page-layout.js';
import type { SimulatorSettings } from './simulator-options.js';

/** The pages have their sessions below this path. */
export const PAGE_PATH = '/hosted/';
/** Where the vendor's embedded form posts to. */
export const FORM_PATH = '/v1/EmbeddedPayment/processPayment';

/** The code of the vendor's plugins for a payment that was not made. */
const NOT_PAID = 'R0099';

/** A callback of the gateway's own page. */
export interface HostedCallback extends BankCallback {
  /** Whether the buyer was charged. */
  readonly charged: boolean;
}

/** How the buyer pays at the gateway's page. */
export interface PayAtPageOptions {
  /**
   * Default: the first of `TEST_CARDS` that has not expired. An expired one is declined with B0054, and any other card
   * with B0014.
   */
  readonly cardNo?: string;
  /** MMyy. Default: that of the test card. */
  readonly expDate?: string;
  /** Only where the merchant asked for 0, so that the buyer chooses: 1, 2, 3, 6, 9 or 12. Default 1. */
  readonly installmentCount?: number;
  /** `none`: the buyer closes the window, so that nothing is sent (`copies` is 0). Default `post`. */
  readonly callback?: 'post' | 'none';
}

/** One buyer at the gateway's page, or at its form in a page of the merchant. */
export interface HostedPage {
  readonly id: string;
  readonly request: GatewayRequest;
  readonly orderId: string;
  readonly paymentId: string;
  readonly endsAt: Date;
  isClosed: boolean;
  /** The try that charged the buyer: there is none after it. */
  charged: PageTry | null;
}

/** A card as it was typed, without spaces. */
export interface TypedCard {
  readonly cardNo: string;
  /** MMyy */
  readonly expDate: string;
  readonly cvv: string;
  readonly installmentCount: number;
}

/** What came of a card. */
export interface PageTry {
  readonly pace: BankVerdict['pace'];
  readonly callback: HostedCallback;
}

/** The pages that the gateway opened, and what buyers did there. */
export class HostedPages {
  private readonly byId = new Map<string, HostedPage>();
  private readonly byConversation = new Map<string, HostedPage>();

  constructor(
    private readonly settings: SimulatorSettings,
    private readonly ledger: Ledger,
  ) {}

  /** Makes a page; buyers can enter it once it is opened. */
  prepare(request: GatewayRequest, { orderId, paymentId }: { orderId: string; paymentId: string }): HostedPage {
    const endsAt = new Date(this.settings.clock().getTime() + this.settings.hostedPageMs);
    return { id: randomUUID(), request, orderId, paymentId, endsAt, isClosed: false, charged: null };
  }

  open(page: HostedPage): void {
    this.byId.set(page.id, page);
    this.byConversation.set(page.request.conversationId, page);
  }

  page(id: string): HostedPage | undefined {
    return this.byId.get(id);
  }

  pageOf(conversationId: string): HostedPage | undefined {
    return this.byConversation.get(conversationId);
  }

  address({ id }: HostedPage): string {
    return this.settings.publicUrl + PAGE_PATH + id;
  }

  canBePaid({ charged, isClosed }: HostedPage): boolean {
    return !charged && !isClosed;
  }

  /** The fields that are not as the page wants them. */
  wrongFields({ request }: HostedPage, card: TypedCard): (keyof TypedCard)[] {
    const { cardNo, expDate, cvv } = fieldRules(this.settings).cardDetails;
    const choices = request.installmentCount === 0 ? INSTALMENT_COUNTS : [request.installmentCount];
    const checks = {
      cardNo: cardNo(card.cardNo),
      expDate: expDate(card.expDate),
      cvv: cvv(card.cvv),
      installmentCount: choices.includes(card.installmentCount),
    };
    return (Object.keys(checks) as (keyof TypedCard)[]).filter((name) => !checks[name]);
  }

  /** Tries a card. Once a buyer was charged, later tries get the result of that one. */
  pay(page: HostedPage, { cardNo, expDate, installmentCount }: TypedCard): PageTry {
    if (page.charged) return page.charged;
    const { request, orderId, paymentId } = page;
    const { conversationId, amount, currencyCode } = request;
    const at = this.settings.clock();
    const { code, chargedAmount, pace, inquiry } = pageVerdict(cardNo, { amount, currencyCode, expDate }, at);
    const maskedCardNumber = maskedCard(cardNo);
    const details = { conversationId, orderId, paymentId, currencyCode, installmentCount, maskedCardNumber, at };
    const charge: Charge | null = chargedAmount === null ? null : { ...details, amount: chargedAmount, kind: 'hosted' };
    this.ledger.record({ conversationId, kind: 'sale', inquiry, orderId, paymentId, charge, refund: null });

    // A declined buyer goes back at once, and can open the page again: unverified.
    const isSentBack = pace !== 'never';
    const callback =
      charge && code === 'B0000'
        ? callbackOf(request.returnUrl, paidFields(charge, code), charge, isSentBack)
        : callbackOf(request.failUrl, notPaidFields(request, code), charge, isSentBack);
    const result = { pace, callback };
    if (charge) page.charged = result;
    return result;
  }

  /** The buyer goes back without paying. The page stays open. */
  cancel({ request, charged }: HostedPage): HostedCallback {
    return charged?.callback ?? callbackOf(request.failUrl, notPaidFields(request, 'B0017'), null, true);
  }

  /** @throws Error when there is no such page, or it can no longer be paid */
  payAtPage(conversationIdOrUrl: string, options: PayAtPageOptions = {}): HostedCallback {
    const page = this.usablePage(conversationIdOrUrl);
    const [current = TEST_CARDS[0]!] = currentTestCards(this.settings.clock());
    const card = TEST_CARDS.find(({ cardNo }) => cardNo === options.cardNo) ?? current;
    const { cardNo = card.cardNo, expDate = card.expDate, callback: way = 'post' } = options;
    const installmentCount = options.installmentCount ?? (page.request.installmentCount || 1);
    const typed = { cardNo, expDate, cvv: card.cvv, installmentCount };
    const wrong = this.wrongFields(page, typed);
    if (wrong.length > 0) throw new Error(`The simulated page does not take this ${wrong.join(', ')}`);
    const { callback } = this.pay(page, typed);
    return way === 'none' ? { ...callback, copies: 0 } : callback;
  }

  /** @throws Error when there is no such page, or it was closed */
  cancelAtPage(conversationIdOrUrl: string): HostedCallback {
    return this.cancel(this.usablePage(conversationIdOrUrl));
  }

  /** @throws Error when there is no such page */
  closePage(conversationIdOrUrl: string): void {
    this.find(conversationIdOrUrl).isClosed = true;
  }

  /** The page as a browser sees it. */
  html(page: HostedPage, language: PageLanguage, wrongFields: PaymentView['wrongFields'] = []): string {
    return paymentPage(this.view(page, language, wrongFields));
  }

  /** The form that is embedded into a page of the merchant. */
  form(page: HostedPage): string {
    return paymentPage(this.view(page, languageOf(page.request.language), []), true);
  }

  reset(): void {
    this.byId.clear();
    this.byConversation.clear();
  }

  private view(page: HostedPage, language: PageLanguage, wrongFields: PaymentView['wrongFields']): PaymentView {
    const { publicUrl, merchantName, clock } = this.settings;
    const { operation, amount, currencyCode, installmentCount } = page.request;
    const address = this.address(page);
    return {
      session: page.id,
      address,
      action: operation === 'embeddedForm' ? publicUrl + FORM_PATH : address,
      language,
      merchantName,
      amount,
      currencyCode,
      installmentCount,
      choices: installmentCount === 0 ? INSTALMENT_COUNTS : [],
      testCards: currentTestCards(clock()),
      wrongFields,
    };
  }

  private find(conversationIdOrUrl: string): HostedPage {
    const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(conversationIdOrUrl)?.[0] ?? '';
    const page = this.pageOf(conversationIdOrUrl) ?? this.page(id);
    if (!page) throw new Error('The simulated gateway has no such page');
    return page;
  }

  private usablePage(conversationIdOrUrl: string): HostedPage {
    const page = this.find(conversationIdOrUrl);
    if (!page.charged && !this.canBePaid(page)) throw new Error('The simulated page can no longer be paid');
    return page;
  }
}

/** The names, and the text of `InstrumentDetail`, are those that the vendor's plugins receive; they want `Approved`. */
function paidFields(charge: Charge, code: string): Record<string, string> {
  const { conversationId, paymentId, amount, currencyCode, installmentCount, maskedCardNumber, at } = charge;
  return {
    ResultCode: code,
    Message: codeText(code, 'en'),
    ConversationId: conversationId,
    PaymentId: paymentId,
    BankUniqueReferenceNumber: referencePrefix(at) + paymentId.slice(-6),
    Amount: amount,
    Currency: String(currencyCode),
    InstallmentCount: String(installmentCount),
    MaskedCardNumber: maskedCardNumber,
    InstrumentDetail: '[object Object]',
  };
}

/** It names no payment, as the vendor's plugins receive it. */
function notPaidFields({ language }: GatewayRequest, code: string): Record<string, string> {
  return { Code: NOT_PAID, Message: codeText(code, language) };
}

function callbackOf(
  url: string,
  fields: Record<string, string>,
  charge: Charge | null,
  isSent: boolean,
): HostedCallback {
  const request = formRequest(url, fields);
  return { url, fields, copies: isSent ? 1 : 0, late: false, request, charged: charge !== null };
}

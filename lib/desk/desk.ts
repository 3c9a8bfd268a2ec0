import { type ExecutionContext, HttpException, Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { PaymentError, PaymentRefundError } from '../errors/payment-errors.js';
import { type HttpResponse, send } from '../http/pages.js';
import { accountsIn } from '../module/account-registration.js';
import { paymentOperationsToken } from '../module/tokens.js';
import { MAX_NAME_LENGTH } from '../operations/resolution.js';
import type { PaymentOperations } from '../operations/staff.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { describeThrown, Masker, thrownText } from '../payment/kept-text.js';
import { preferredLanguage } from '../runtime/text-language.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';
import { asKept } from './acts.js';
import { DeskAccess, type DeskRight, type DeskStaff } from './desk-access.js';
import { accountIn, type DeskRequest, isFromOwnPage, placeOf } from './desk-request.js';
import { type Frame, linkTo, Refusal, refusalPage, type Visit } from './layout.js';
import { type Answer, Instead, type Route, ROUTES } from './routes.js';
import { type TextName, Words } from './texts.js';

const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
const PAGE_HEADERS = { ...HEADERS, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
const STYLE_HEADERS = {
  ...HEADERS,
  'Content-Type': 'text/css; charset=utf-8',
  'Cache-Control': 'private, max-age=86400',
};
/** Of no request in particular: nothing is known that it carried. */
const ANY = new Masker([]);

/** Answers the requests of one desk. */
@Injectable()
export class Desk {
  private readonly logger = new PaymentLogger();
  /** A `#` field: printed, it would show the whole application. */
  readonly #modules: ModuleRef;
  readonly #discovery: DiscoveryService;

  constructor(
    @Inject(DeskAccess) private readonly access: DeskAccess,
    modules: ModuleRef,
    discovery: DiscoveryService,
  ) {
    this.#modules = modules;
    this.#discovery = discovery;
  }

  /** Answers a request of one of its routes. */
  async answer(context: ExecutionContext, route: Route): Promise<void> {
    const http = context.switchToHttp();
    const request = http.getRequest<DeskRequest>();
    const words = new Words(preferredLanguage(request.headers['accept-language'], 'en'));
    const depth = route.path === '' ? 0 : route.path.split('/').length;
    const frame: Frame = { place: placeOf(request, depth), words };
    const answer = await this.answerOf(context, route, frame, request).catch((error: unknown): Answer => {
      if (error instanceof Instead) return error.answer;
      const refusal = this.refusalOf(error);
      return { status: refusal.status, page: refusalPage(frame, refusal, request.method === 'POST') };
    });
    const response = http.getResponse<HttpResponse>();
    if (typeof answer === 'string') send(response, 200, PAGE_HEADERS, answer);
    else if ('location' in answer) send(response, 303, { ...PAGE_HEADERS, Location: answer.location }, '');
    else if ('style' in answer) send(response, 200, STYLE_HEADERS, answer.style);
    else send(response, answer.status, PAGE_HEADERS, answer.page);
  }

  private async answerOf(context: ExecutionContext, route: Route, frame: Frame, request: DeskRequest): Promise<Answer> {
    if (request.method === 'POST' && !isFromOwnPage(request)) throw new Refusal(403, 'foreignForm');
    const staff = await this.staffOf(context);
    // The style is no account's.
    if (route === ROUTES.style) return ROUTES.style.answer();
    const accounts = accountsIn(this.#discovery).filter((name) => staff.accounts?.includes(name) ?? true);
    const named = accountIn(request.query);
    if (named === undefined) throw new Refusal(400, 'notUnderstood', accounts);
    const account = named ?? DEFAULT_ACCOUNT;
    const [first] = accounts;
    // The first page without the unnamed account is that of the first one.
    if (route === ROUTES.overview && named === null && first !== undefined && !accounts.includes(account)) {
      return { location: linkTo({ ...frame, account: first }, '') };
    }
    if (staff.accounts?.includes(account) === false) throw new Refusal(403, 'notAllowed', accounts);
    if (!accounts.includes(account)) throw new Refusal(404, 'notFound', accounts);
    const visit: Visit = {
      ...frame,
      staff,
      account,
      accounts,
      operations: this.#modules.get<PaymentOperations>(paymentOperationsToken(account), { strict: false }),
      record: async (act) => {
        try {
          await this.access.record?.({ staff: staff.name, account, ...act });
        } catch (error) {
          throw this.fromHost(error, 'notRecorded');
        }
      },
      refusalOf: (error) => this.refusalOf(error),
    };
    return route.answer(visit, request);
  }

  /** @throws Refusal for whom the host does not know, or does not let look */
  private async staffOf(context: ExecutionContext): Promise<DeskStaff> {
    let staff: DeskStaff | null;
    try {
      staff = await this.access.staffOf(context);
    } catch (error) {
      throw this.fromHost(error, 'failedHere');
    }
    const { name, rights, accounts } = (staff ?? {}) as Partial<DeskStaff>;
    // A mistake of the host's lets nobody in: what is done needs a name.
    const isNamed = typeof name === 'string' && name.trim() !== '';
    const isList = accounts === undefined || Array.isArray(accounts);
    if (!isNamed || !isList || !Array.isArray(rights) || !rights.includes('look')) throw new Refusal(403, 'notAllowed');
    return { name: asKept(name, MAX_NAME_LENGTH), rights: rights as DeskRight[], accounts };
  }

  /** What the host's code threw: an HttpException keeps its status, and nothing its text. */
  private fromHost(error: unknown, text: TextName): Refusal {
    const status = error instanceof HttpException ? error.getStatus() : 500;
    if (status >= 400 && status < 500) return new Refusal(status, text === 'failedHere' ? 'refusedByHost' : text);
    this.logger.error(`The host's DeskAccess failed${thrownText(describeThrown(error, ANY))}.`);
    return new Refusal(status < 600 && status >= 500 ? status : 500, text);
  }

  private refusalOf(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof PaymentRefundError) return new Refusal(409, `refund_${error.reason}`);
    if (error instanceof PaymentError) return new Refusal(error.httpStatus, TEXT_OF_CODE[error.code] ?? 'notNow');
    this.logger.error(`A request of the desk failed${thrownText(describeThrown(error, ANY))}.`);
    return new Refusal(500, 'failedHere');
  }
}

/** All others are about this moment: the store, the shutdown, what is in flight. */
const TEXT_OF_CODE: Readonly<Record<string, TextName>> = {
  PAYMENT_VALIDATION: 'notUnderstood',
  PAYMENT_NOT_FOUND: 'notFound',
  PAYMENT_DUPLICATE: 'duplicate',
  PAYMENT_STATE: 'notPossible',
  PAYMENT_UNSUPPORTED: 'unsupported',
  PAYMENT_NOT_SENT: 'notSent',
};

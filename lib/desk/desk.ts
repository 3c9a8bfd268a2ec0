import { type ExecutionContext, HttpException, Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, ModuleRef } from '@nestjs/core';
import { PaymentError, PaymentRefundError, PaymentStoreError, type RefundRefusal } from '../errors/payment-errors.js';
import { type HttpResponse, send } from '../http/pages.js';
import { accountsIn } from '../module/account-registration.js';
import { paymentOperationsToken } from '../module/tokens.js';
import { MAX_NAME_LENGTH } from '../operations/resolution.js';
import type { OperationsHistoryEntry, PaymentOperations } from '../operations/staff.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { compareAmounts } from '../payment/amount.js';
import { describeThrown, Masker, thrownText } from '../payment/kept-text.js';
import { preferredLanguage } from '../runtime/text-language.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';
import { ACTS, actIn, asKept, type Asked, askedIn, fingerprintOf, isByHand, isMadeBy, problemOf } from './acts.js';
import { type DeskAct, DeskAccess, type DeskRight, type DeskStaff } from './desk-access.js';
import { accountIn, type DeskRequest, isFromOwnPage, placeOf, textIn } from './desk-request.js';
import { type Frame, linkTo, may, notice, paymentLink, refusalPage, type Visit } from './layout.js';
import { deliveriesPage, overviewPage, paymentsPage } from './list-pages.js';
import { confirmationPage, lookUp, paymentPage, type Shown } from './payment-page.js';
import { STYLE } from './style.js';
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
/** Of a payment's events, so many are looked through for the one that is to be delivered again. */
const MAX_DELIVERIES = 1_000;
/** Of no request in particular: nothing is known that it carried. */
const ANY = new Masker([]);

/** What is sent: a page, where the browser goes, or the style. */
type Answer =
  { readonly page: string; readonly status?: number } | { readonly location: string } | { readonly style: string };

/** A request that is answered by a page that says why. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly text: TextName,
    /** Those that may be looked at instead. */
    readonly accounts: readonly string[] = [],
  ) {
    super(text);
  }
}

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

  overview(context: ExecutionContext): Promise<void> {
    return this.answer(context, 0, async (visit, { query }) => ({
      page: await overviewPage(visit, textIn(query, 'after')),
    }));
  }

  payments(context: ExecutionContext): Promise<void> {
    return this.answer(context, 1, async (visit, { query }) => {
      const [state, after] = [textIn(query, 'state'), textIn(query, 'after')];
      return { page: await paymentsPage(visit, { q: textIn(query, 'q')?.trim() ?? null, state, after }) };
    });
  }

  payment(context: ExecutionContext): Promise<void> {
    return this.answer(context, 2, async (visit, { params, query }) => {
      const id = textIn(params, 'id') ?? '';
      const found = await visit.operations.find(id);
      if (found && 'refundId' in found) return { location: paymentLink(visit, found.conversationId) };
      const done = actIn(textIn(query, 'done'));
      return { page: paymentPage(visit, await lookUp(visit, id), { done }) };
    });
  }

  /** The address of an act, which is opened by Back, a bookmark, or a sign-in that leads there. */
  backToPayment(context: ExecutionContext): Promise<void> {
    return this.answer(context, 3, (visit, { params }) => ({
      location: paymentLink(visit, textIn(params, 'id') ?? ''),
    }));
  }

  review(context: ExecutionContext): Promise<void> {
    return this.answer(context, 3, async (visit, request) => {
      const { asked, shown, refused } = await this.ask(visit, request);
      return refused ?? { page: confirmationPage(visit, shown, asked) };
    });
  }

  act(context: ExecutionContext): Promise<void> {
    return this.answer(context, 3, async (visit, request) => {
      const { asked, shown, refused } = await this.ask(visit, request);
      if (refused) return refused;
      const { conversationId } = shown.payment;
      const { act, given, idempotencyKey } = asked;
      await this.record(visit, { act, conversationId, details: given });
      const { operations, staff } = visit;
      const now = await lookUp(visit, conversationId);
      if (fingerprintOf(now) !== asked.shown) return this.changed(visit, now, asked);
      const run = () => ACTS[act].run({ operations, conversationId, by: staff.name, given, idempotencyKey });
      const refusal = await begun(run).then(
        () => null,
        (error: unknown) => this.refusalOf(error),
      );
      // The key may have given back a refund that another form made.
      if (!refusal && ACTS[act].right !== 'refund') return doneAnswer(visit, asked, conversationId);
      const latest = await begun(() => lookUp(visit, conversationId)).catch((error: unknown) => {
        throw refusal ?? error;
      });
      if (!refusal || refusal.text === 'notPossible') {
        const changed = await begun(() => this.changed(visit, latest, asked));
        if (!refusal || 'location' in changed) return changed;
      }
      const { status, text } = refusal;
      const isTooSoon = text === 'notPossible' && latest.payment.reason === 'interrupted';
      return { status, page: paymentPage(visit, latest, { problem: isTooSoon ? 'tooSoon' : text, asked }) };
    });
  }

  deliveries(context: ExecutionContext): Promise<void> {
    return this.answer(context, 1, async (visit, { query }) => {
      const says = textIn(query, 'done') !== null && notice(visit.words.say('doneReplay'), false);
      return { page: await deliveriesPage(visit, { after: textIn(query, 'after'), says }) };
    });
  }

  backToDeliveries(context: ExecutionContext): Promise<void> {
    return this.answer(context, 2, (visit) => ({ location: linkTo(visit, 'deliveries') }));
  }

  replay(context: ExecutionContext): Promise<void> {
    return this.answer(context, 2, async (visit, { body }) => {
      expectRight(visit, 'replay');
      const [handlerId, eventId] = [textIn(body, 'handlerId'), textIn(body, 'eventId')];
      if (handlerId === null || eventId === null) throw new Refusal(400, 'notUnderstood');
      const { operations, staff } = visit;
      // An event's id begins with that of its payment or refund.
      const found = await operations.find(eventId.slice(0, eventId.lastIndexOf(':')));
      if (!found) throw new Refusal(404, 'notFound');
      const { conversationId } = found;
      const isThere = async (parked: boolean): Promise<boolean> => {
        const { deliveries } = await operations.deliveries({ conversationId, parked, limit: MAX_DELIVERIES });
        return deliveries.some((one) => one.handlerId === handlerId && one.eventId === eventId);
      };
      const done = { location: linkTo(visit, 'deliveries', { done: 'replay' }) };
      if (await isThere(true)) {
        await this.record(visit, { act: 'replay', conversationId, details: { handlerId, eventId } });
        if (await begun(() => operations.replay(handlerId, eventId, { by: staff.name }))) return done;
      }
      // A double click: it is on its way already.
      if (await isThere(false)) return done;
      const says = notice(visit.words.say('notParked'), true);
      return { status: 409, page: await deliveriesPage(visit, { after: null, says }) };
    });
  }

  style(context: ExecutionContext): Promise<void> {
    return this.reply(context, 1, async () => {
      await this.staffOf(context);
      return { style: STYLE };
    });
  }

  /** Reads a form, and looks its payment up. */
  private async ask(
    visit: Visit,
    request: DeskRequest,
  ): Promise<{ readonly asked: Asked; readonly shown: Shown; readonly refused?: Answer }> {
    const asked = askedIn(request.body);
    if (!asked) throw new Refusal(400, 'notUnderstood');
    expectRight(visit, ACTS[asked.act].right);
    const conversationId = textIn(request.params, 'id') ?? '';
    const shown = await lookUp(visit, conversationId);
    if (fingerprintOf(shown) !== asked.shown) return { asked, shown, refused: await this.changed(visit, shown, asked) };
    const problem = problemOf(asked, shown);
    if (problem === null) return { asked, shown };
    const status = problem === 'notPossible' ? 409 : problem === 'notFound' ? 404 : 400;
    return { asked, shown, refused: { status, page: paymentPage(visit, shown, { problem, asked }) } };
  }

  /** Shows a payment that is not as it was when the form was made, unless it is the form itself that changed it. */
  private async changed(visit: Visit, shown: Shown, asked: Asked): Promise<Answer> {
    if (await isDone(visit, asked, shown)) return doneAnswer(visit, asked, shown.payment.conversationId);
    return { status: 409, page: paymentPage(visit, shown, { problem: 'changed', seen: asked.seen }) };
  }

  private async record(visit: Visit, act: Pick<DeskAct, 'act' | 'conversationId' | 'details'>): Promise<void> {
    const { staff, account } = visit;
    try {
      await this.access.record?.({ staff: staff.name, account, ...act });
    } catch (error) {
      throw this.fromHost(error, 'notRecorded');
    }
  }

  /** Answers somebody who may look. */
  private answer(
    context: ExecutionContext,
    depth: number,
    work: (visit: Visit, request: DeskRequest) => Answer | Promise<Answer>,
  ): Promise<void> {
    return this.reply(context, depth, async (frame, request) => {
      const staff = await this.staffOf(context);
      const accounts = accountsIn(this.#discovery).filter((name) => staff.accounts?.includes(name) ?? true);
      const named = accountIn(request.query);
      if (named === undefined) throw new Refusal(400, 'notUnderstood', accounts);
      const account = named ?? DEFAULT_ACCOUNT;
      const [first] = accounts;
      // The first page without the unnamed account is that of the first one.
      if (depth === 0 && named === null && first !== undefined && !accounts.includes(account)) {
        return { location: linkTo({ ...frame, account: first }, '') };
      }
      if (staff.accounts?.includes(account) === false) throw new Refusal(403, 'notAllowed', accounts);
      if (!accounts.includes(account)) throw new Refusal(404, 'notFound', accounts);
      const operations = this.#modules.get<PaymentOperations>(paymentOperationsToken(account), { strict: false });
      return work({ ...frame, staff, account, accounts, operations }, request);
    });
  }

  private async reply(
    context: ExecutionContext,
    depth: number,
    work: (frame: Frame, request: DeskRequest) => Promise<Answer>,
  ): Promise<void> {
    const http = context.switchToHttp();
    const request = http.getRequest<DeskRequest>();
    const words = new Words(preferredLanguage(request.headers['accept-language'], 'en'));
    const frame: Frame = { place: placeOf(request, depth), words };
    const isPost = request.method === 'POST';
    let answer: Answer;
    try {
      if (isPost && !isFromOwnPage(request)) throw new Refusal(403, 'foreignForm');
      answer = await work(frame, request);
    } catch (error) {
      const { status, text, accounts } = this.refusalOf(error);
      answer = { status, page: refusalPage(frame, { problem: text, isAct: isPost, accounts }) };
    }
    const response = http.getResponse<HttpResponse>();
    if ('location' in answer) send(response, 303, { ...PAGE_HEADERS, Location: answer.location }, '');
    else if ('style' in answer) send(response, 200, STYLE_HEADERS, answer.style);
    else send(response, answer.status ?? 200, PAGE_HEADERS, answer.page);
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
    if (error instanceof PaymentRefundError) return new Refusal(409, REFUND_TEXTS[error.reason]);
    if (error instanceof PaymentError) return new Refusal(error.httpStatus, TEXT_OF_CODE[error.code] ?? 'notNow');
    this.logger.error(`A request of the desk failed${thrownText(describeThrown(error, ANY))}.`);
    return new Refusal(500, 'failedHere');
  }
}

const REFUND_TEXTS: Readonly<Record<RefundRefusal, TextName>> = {
  exceeds: 'exceeds',
  voided: 'voided',
  refunded: 'wasRefunded',
  in_progress: 'inProgress',
  no_ids: 'noIds',
};
/** All others are about this moment: the store, the shutdown, what is in flight. */
const TEXT_OF_CODE: Readonly<Record<string, TextName>> = {
  PAYMENT_VALIDATION: 'notUnderstood',
  PAYMENT_NOT_FOUND: 'notFound',
  PAYMENT_DUPLICATE: 'duplicate',
  PAYMENT_STATE: 'notPossible',
  PAYMENT_UNSUPPORTED: 'unsupported',
  PAYMENT_NOT_SENT: 'notSent',
};

function expectRight(visit: Visit, right: DeskRight): void {
  if (!may(visit, right)) throw new Refusal(403, 'notAllowed');
}

/** The answer to who did it. */
function doneAnswer(visit: Visit, { act }: Asked, conversationId: string): Answer {
  return { location: paymentLink(visit, conversationId, { done: act }) };
}

/** Does what was recorded, or looks for what came of it. A store that fails may have written it all the same. */
async function begun<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof PaymentStoreError ? new Refusal(error.httpStatus, 'unsure') : error;
  }
}

/** Whether what a form asks for was done by it: a double click, or Back and once more. */
async function isDone({ operations, staff }: Visit, asked: Asked, { payment, history }: Shown): Promise<boolean> {
  const { act, given, idempotencyKey, seen } = asked;
  const { right, fields } = ACTS[act];
  const made = right === 'refund' ? await operations.findRefund(idempotencyKey) : null;
  const isOwnLine = (line: OperationsHistoryEntry) => line.refundId === (given.refundId ?? null);
  const line = right === 'refund' ? made : history.findLast(isOwnLine);
  if (!line || line.by !== staff.name) return false;
  if (fields.includes('note') && line.note !== (given.note ?? null)) return false;
  if ('at' in line) {
    return line.at.getTime() > seen && (given.state === undefined || (isByHand(line) && line.state === given.state));
  }
  if (line.conversationId !== payment.conversationId || !isMadeBy(act, line)) return false;
  return act === 'void' || compareAmounts(line.amount, given.amount ?? '') === 0;
}

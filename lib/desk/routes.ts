import { Get, Post } from '@nestjs/common';
import { PaymentStoreError } from '../errors/payment-errors.js';
import { ACTS, actIn, type Asked, askedIn, fingerprintOf, isDone, perform, problemOf } from './acts.js';
import type { DeskRight } from './desk-access.js';
import { type DeskRequest, textIn } from './desk-request.js';
import { linkTo, may, paymentLink, Refusal, type Visit } from './layout.js';
import { deliveriesPage, overviewPage, paymentsPage } from './list-pages.js';
import { confirmationPage, lookUp, paymentPage, type Shown } from './payment-page.js';
import { STYLE } from './style.js';

/** What is sent: a page, where the browser goes, or the style. */
export type Answer =
  | string
  | { readonly page: string; readonly status: number }
  | { readonly location: string }
  | { readonly style: string };

/** Ends a request with an answer, wherever it is found. */
export class Instead extends Error {
  constructor(readonly answer: Answer) {
    super('answered');
  }
}

export interface Route {
  readonly method: typeof Get;
  /** Under that of the desk. */
  readonly path: string;
  readonly answer: (visit: Visit, request: DeskRequest) => Answer | Promise<Answer>;
}

const idIn = ({ params }: DeskRequest): string => textIn(params, 'id') ?? '';

/** The address of an act is also opened by Back, a bookmark, or a sign-in that leads there. */
const backToPayment: Route['answer'] = (visit, request) => ({ location: paymentLink(visit, idIn(request)) });

/** By the names of the controller's methods. */
export const ROUTES = {
  overview: { method: Get, path: '', answer: overviewPage },
  style: { method: Get, path: 'desk.css', answer: () => ({ style: STYLE }) },
  payments: { method: Get, path: 'payments', answer: paymentsPage },
  payment: { method: Get, path: 'payments/:id', answer: openPayment },
  backFromReview: { method: Get, path: 'payments/:id/review', answer: backToPayment },
  backFromAct: { method: Get, path: 'payments/:id/acts', answer: backToPayment },
  review: { method: Post, path: 'payments/:id/review', answer: review },
  act: { method: Post, path: 'payments/:id/acts', answer: act },
  deliveries: { method: Get, path: 'deliveries', answer: (visit, request) => deliveriesPage(visit, request) },
  backFromReplay: {
    method: Get,
    path: 'deliveries/replay',
    answer: (visit) => ({ location: linkTo(visit, 'deliveries') }),
  },
  replay: { method: Post, path: 'deliveries/replay', answer: replay },
} satisfies Readonly<Record<string, Route>>;

async function openPayment(visit: Visit, request: DeskRequest): Promise<Answer> {
  const id = idIn(request);
  const found = await visit.operations.find(id);
  if (found && 'refundId' in found) return { location: paymentLink(visit, found.conversationId) };
  return paymentPage(visit, await lookUp(visit, id), { done: actIn(textIn(request.query, 'done')) });
}

async function review(visit: Visit, request: DeskRequest): Promise<Answer> {
  const { asked, shown } = await ask(visit, request);
  return confirmationPage(visit, shown, asked);
}

async function act(visit: Visit, request: DeskRequest): Promise<Answer> {
  const { asked, shown } = await ask(visit, request);
  const { operations, staff } = visit;
  const { conversationId } = shown.payment;
  await visit.record({ act: asked.act, conversationId, details: asked.given });
  await expectUnchanged(visit, await lookUp(visit, conversationId), asked);
  const refusal = await begun(() => perform(operations, shown.payment, asked, staff.name)).then(
    () => null,
    (error: unknown) => visit.refusalOf(error),
  );
  // The key may have given back a refund that another form made.
  if (!refusal && ACTS[asked.act].right !== 'refund') return doneAnswer(visit, shown, asked);
  const latest = await begun(() => lookUp(visit, conversationId)).catch((error: unknown) => {
    throw refusal ?? error;
  });
  const isPossible = refusal?.text !== 'notPossible';
  if (!refusal || !isPossible) {
    if (await begun(() => isDoneBy(visit, latest, asked))) return doneAnswer(visit, latest, asked);
  }
  const isTooSoon = !isPossible && latest.payment.reason === 'interrupted';
  const problem = isTooSoon ? 'tooSoon' : (refusal?.text ?? 'changed');
  return { status: refusal?.status ?? 409, page: paymentPage(visit, latest, { problem, asked }) };
}

async function replay(visit: Visit, request: DeskRequest): Promise<Answer> {
  expectRight(visit, 'replay');
  const [handlerId, eventId] = [textIn(request.body, 'handlerId'), textIn(request.body, 'eventId')];
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
    await visit.record({ act: 'replay', conversationId, details: { handlerId, eventId } });
    if (await begun(() => operations.replay(handlerId, eventId, { by: staff.name }))) return done;
  }
  // A double click: it is on its way already.
  if (await isThere(false)) return done;
  return { status: 409, page: await deliveriesPage(visit, request, 'notParked') };
}

/** Of a payment's events, so many are looked through for the one that is to be delivered again. */
const MAX_DELIVERIES = 1_000;

/** Reads a form, and looks its payment up. */
async function ask(visit: Visit, request: DeskRequest): Promise<{ readonly asked: Asked; readonly shown: Shown }> {
  const asked = askedIn(request.body);
  if (!asked) throw new Refusal(400, 'notUnderstood');
  expectRight(visit, ACTS[asked.act].right);
  const shown = await lookUp(visit, idIn(request));
  await expectUnchanged(visit, shown, asked);
  const problem = problemOf(asked, shown);
  if (problem === null) return { asked, shown };
  const status = problem === 'notPossible' ? 409 : problem === 'notFound' ? 404 : 400;
  throw new Instead({ status, page: paymentPage(visit, shown, { problem, asked }) });
}

function expectRight(visit: Visit, right: DeskRight): void {
  if (!may(visit, right)) throw new Refusal(403, 'notAllowed');
}

/** Shows a payment that is not as it was when the form was made, unless it is the form itself that changed it. */
async function expectUnchanged(visit: Visit, shown: Shown, asked: Asked): Promise<void> {
  if (fingerprintOf(shown) === asked.shown) return;
  if (await isDoneBy(visit, shown, asked)) throw new Instead(doneAnswer(visit, shown, asked));
  throw new Instead({ status: 409, page: paymentPage(visit, shown, { problem: 'changed', asked }) });
}

function isDoneBy({ operations, staff }: Visit, { payment, history }: Shown, asked: Asked): Promise<boolean> {
  return isDone(operations, payment, history, asked, staff.name);
}

/** The answer to who did it. */
function doneAnswer(visit: Visit, { payment }: Shown, { act: done }: Asked): Answer {
  return { location: paymentLink(visit, payment.conversationId, { done }) };
}

/** Does what was recorded, or looks for what came of it. A store that fails may have written it all the same. */
async function begun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof PaymentStoreError ? new Refusal(error.httpStatus, 'unsure') : error;
  }
}

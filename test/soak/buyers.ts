import { setTimeout as delay } from 'node:timers/promises';
import type { DoPaymentDto, RefundDto } from 'nestjs-card-payment';
import type { BankCallback, Simulator } from 'nestjs-card-payment/simulator';
import type { Chance } from '../rigs/chance.js';
import { sale } from '../rigs/sale.js';

/** The pages that a buyer is sent to after the bank. */
export const RESULT_URLS = {
  successUrl: 'https://shop.example/paid',
  failureUrl: 'https://shop.example/failed',
  pendingUrl: 'https://shop.example/pending',
};
const STATE_OF_URL = new Map([
  [RESULT_URLS.successUrl, 'succeeded'],
  [RESULT_URLS.failureUrl, 'failed'],
]);

/** What a buyer was shown of a payment. */
export interface ShownState {
  readonly conversationId: string;
  readonly state: string;
}

/** Two answers to one sale, sent again under the same idempotencyKey. */
export interface RepeatedSale {
  readonly first: string;
  readonly again: string;
}

/** Cents that the simulator gives a meaning; 90 is approved. */
const CENTS = [...Array.from({ length: 24 }, () => '90'), '51', '05', '54', '91', '96', '61', '62', '63'];
/** No call may take longer than half a minute, whatever hangs; the rest is for a busy machine. */
export const MAX_ANSWER_MS = 45_000;
const MAX_TRIES = 4;
const PAUSE_MS = 500;

/** Buyers, each with one order after the other; some pay twice, in two tabs or again after an error. */
export class Buyers {
  readonly references: string[] = [];
  readonly shown: ShownState[] = [];
  readonly repeats: RepeatedSale[] = [];
  readonly problems: string[] = [];
  requests = 0;
  longestMs = 0;
  private isOver = false;

  constructor(
    private readonly simulator: Simulator,
    private readonly random: Chance,
    /** The address of a running process. */
    private readonly shopUrl: () => string,
    private readonly thinkMs: number,
  ) {}

  stop(): void {
    this.isOver = true;
  }

  /** Resolves when all have stopped. */
  async run(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.buy()));
  }

  private async buy(): Promise<void> {
    while (!this.isOver) {
      await delay(this.random.between(0, 2 * this.thinkMs));
      const reference = `order-${this.references.length + 1}`;
      this.references.push(reference);
      const pay = this.random.happens(0.55) ? () => this.payDirectly(reference) : () => this.payAtTheBank(reference);
      const tabs = this.random.happens(0.08) ? 2 : 1;
      await Promise.all(Array.from({ length: tabs }, pay));
      // An order that is paid, or may be, must not be paid again.
      if (this.random.happens(0.05)) await pay();
      if (this.random.happens(0.4)) await this.giveBackSome();
    }
  }

  private async payDirectly(reference: string): Promise<void> {
    const sale = this.newSale(reference);
    const first = await this.order('direct', () => sale);
    if (!first || !this.random.happens(0.1)) return;
    const again = await this.order('direct', () => sale);
    if (again) this.repeats.push({ first: first.conversationId, again: again.conversationId });
  }

  /** The merchant gives back a part or all of a payment, perhaps of one that is not paid; some click twice. */
  private async giveBackSome(): Promise<void> {
    if (this.shown.length === 0) return;
    const { conversationId } = this.random.oneOf(this.shown);
    for (let parts = this.random.between(1, 3); parts > 0; parts -= 1) {
      const idempotencyKey = `refund-${this.random.seed()}`;
      const isWhole = this.random.happens(0.25);
      const amount = this.random.happens(0.2) ? {} : { amount: `${this.random.between(1, 200)}.00` };
      const asked = { conversationId, idempotencyKey, ...(!isWhole && amount) };
      const click = (): Promise<void> => this.askBack(isWhole ? 'void' : 'refund', asked);
      await Promise.all(Array.from({ length: this.random.happens(0.2) ? 2 : 1 }, click));
    }
  }

  private async askBack(path: 'refund' | 'void', asked: RefundDto): Promise<void> {
    const answer = await this.persist(`/${path}`, () => json(asked));
    if (answer && ![200, 409].includes(answer.status)) this.problems.push(`${path} was answered with ${answer.status}`);
  }

  private async payAtTheBank(reference: string): Promise<void> {
    const sale = this.newSale(reference);
    // With another key each time, as of a buyer who begins anew.
    const started = await this.order('checkout', () => ({ ...sale, idempotencyKey: this.newKey() }));
    if (!started || this.random.happens(0.04)) return;
    await delay(this.random.between(0, 2 * this.thinkMs));
    const code = this.random.happens(0.06) ? 'wrong' : this.random.oneOf(['123456', '222222', '444444']);
    const callback = this.simulator.bank.answer(started.conversationId, { code });
    const copies = this.random.happens(0.15) ? 3 : callback.copies;
    await Promise.all(Array.from({ length: copies }, () => this.comeBack(started.conversationId, callback)));
  }

  /** Posts the callback to a process, and reloads the page after an error. */
  private async comeBack(conversationId: string, { url, request }: BankCallback): Promise<void> {
    const { method, headers, body } = request;
    const answer = await this.persist(new URL(url).pathname, () => ({ method, headers, body, redirect: 'manual' }));
    if (!answer) return;
    const [location = '', query] = (answer.headers.get('location') ?? '').split('?');
    const state = STATE_OF_URL.get(location);
    // Of an order that is held it shows how the payment stands that holds it.
    const shown = new URLSearchParams(query).get('conversationId') ?? conversationId;
    if (state) this.shown.push({ conversationId: shown, state });
    else if (location !== RESULT_URLS.pendingUrl) {
      this.problems.push(`${conversationId}: its callback was answered with ${answer.status} ${location}`);
    }
  }

  /** @returns null where no payment is shown: it was declined, or the order is taken by another one */
  private async order(path: 'direct' | 'checkout', saleOf: () => DoPaymentDto): Promise<ShownState | null> {
    const answer = await this.persist(`/${path}`, () => json(saleOf()));
    if (answer?.status !== 200) {
      const isExpected = !answer || [402, 409].includes(answer.status);
      if (!isExpected) this.problems.push(`${path} was answered with ${answer.status}`);
      return null;
    }
    const shown = (await answer.json()) as ShownState;
    if (path === 'direct') this.shown.push(shown);
    return shown;
  }

  /** Sends a request again while there is no answer, or an error of the server. @returns null where that never ends */
  private async persist(path: string, request: () => RequestInit): Promise<Response | null> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const answer = await this.send(path, request());
      if (answer && answer.status < 500) return answer;
      await delay(PAUSE_MS);
    }
    return null;
  }

  /** @returns null when the process died, or did not answer in time */
  private async send(path: string, init: RequestInit): Promise<Response | null> {
    this.requests += 1;
    const began = performance.now();
    try {
      // A kept connection that was in use when its process began to shut down holds that up, with Fastify for 72 s.
      const headers = new Headers(init.headers);
      headers.set('connection', 'close');
      const signal = AbortSignal.timeout(MAX_ANSWER_MS);
      const response = await fetch(this.shopUrl() + path, { ...init, headers, signal });
      const body = await response.text();
      const { status } = response;
      return new Response([204, 303, 304].includes(status) ? null : body, { status, headers: response.headers });
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') {
        this.problems.push(`${path} was not answered within ${MAX_ANSWER_MS} ms`);
      }
      return null;
    } finally {
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
    }
  }

  private newSale(reference: string): DoPaymentDto {
    const amount = `${this.random.between(1, 999)}.${this.random.oneOf(CENTS)}`;
    return sale(amount, { reference, idempotencyKey: this.newKey() });
  }

  private newKey(): string {
    return `key-${this.random.seed()}`;
  }
}

function json(body: object): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

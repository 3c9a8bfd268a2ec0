import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import type { RequestClaim, Transmission, WireRequest } from '../../lib/gateway/transport/attempt.js';

export type Operation = 'DoPayment' | 'Init3d' | 'Auth3d' | 'CheckPayment';

export interface SentRequest {
  readonly operation: Operation;
  readonly conversationId: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** @param timeoutMs how long it may take; 0 if the transport decides */
type Answer = (request: SentRequest, timeoutMs: number) => Transmission | Promise<Transmission>;

/** A request that has not been answered yet. */
export interface HeldRequest {
  /** Resolves when the request has arrived. */
  readonly begun: Promise<void>;
  answer(transmission: Transmission): void;
}

const PAGE = Buffer.from('<html><body>bank</body></html>').toString('base64');

/** Replaces the transport: approves every request, unless told to answer something else. */
export class FakeGateway {
  readonly http = {};
  /** Every request that was sent. */
  readonly requests: SentRequest[] = [];
  private readonly next = new Map<Operation, Answer[]>();
  private readonly held: HeldRequest[] = [];
  private readonly amounts = new Map<string, unknown>();

  /** This gateway as the transport that GatewayClient expects. */
  get transport(): GatewayTransport {
    return this as unknown as GatewayTransport;
  }

  /** Sets the answers to the next requests of an operation, one for each request. */
  willAnswer(operation: Operation, ...answers: (Transmission | Answer)[]): void {
    const all = answers.map((answer): Answer => (typeof answer === 'function' ? answer : () => answer));
    this.next.set(operation, [...(this.next.get(operation) ?? []), ...all]);
  }

  /** Holds the next request of an operation until the test answers it. */
  hold(operation: Operation): HeldRequest {
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let answer!: (transmission: Transmission) => void;
    const answered = new Promise<Transmission>((resolve) => (answer = resolve));
    this.willAnswer(operation, () => (begin(), answered));
    this.held.push({ begun, answer });
    return { begun, answer };
  }

  /** Answers the requests that a failed test left open, since a payment under way keeps the process alive. */
  close(): void {
    for (const { answer } of this.held) answer(LOST);
  }

  sent(operation: Operation): SentRequest[] {
    return this.requests.filter((request) => request.operation === operation);
  }

  async post({ url, body }: WireRequest, claim?: RequestClaim): Promise<Transmission> {
    const fields = JSON.parse(body) as SentRequest['fields'];
    const operation = url.split('/').pop() as Operation;
    const request = { operation, conversationId: String(fields.conversationId), fields };
    const { amount } = (fields.transactionDetails ?? {}) as { amount?: unknown };
    if (amount !== undefined) this.amounts.set(request.conversationId, amount);
    const transmission = await (this.next.get(operation)?.shift() ?? ((asked) => this.approval(asked)))(
      request,
      claim?.timeoutMs ?? 0,
    );
    if (transmission.sent) this.requests.push(request);
    return transmission;
  }

  approval({ operation, conversationId }: Pick<SentRequest, 'operation' | 'conversationId'>): Transmission {
    if (operation === 'CheckPayment') return paid({ conversationId });
    if (operation === 'Init3d') return reply({ code: 'B0000', conversationId, htmlForm: PAGE });
    return reply({ code: 'B0000', conversationId, paymentInfo: { amount: this.amounts.get(conversationId) } });
  }
}

export function reply(fields: object, status = 200): Transmission {
  return { sent: true, reply: { status, text: JSON.stringify(fields) } };
}

/** An answer to CheckPayment whose text says approved, with additional fields. */
export function paid(more: object = {}): Transmission {
  return reply({ responseCode: 'B0000', responseDescription: 'Approved', ...more });
}

export const DECLINED = reply({ code: 'B0051', message: 'insufficient funds' });
export const LOST: Transmission = { sent: true, reply: null, cause: 'connection_lost' };
export const NOT_SENT: Transmission = { sent: false, cause: 'connection_failed' };
export const PAID = paid();
export const NOT_PAID = reply({ responseCode: 'B0051' });
export const NOT_FOUND = reply({ responseCode: 'B0100' });
export const UNDECIDED = reply({ responseCode: 'B0091' });

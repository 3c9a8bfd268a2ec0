import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the gateway answers about an id: JSON with HTTP 200, anything else by hand, or nothing at all. */
export type AnswerAbout = object | 'hang' | 'close' | ((response: ServerResponse) => void);

/** A gateway that answers inquiries as it is told, and nothing else. It shares no code with the simulator. */
export class AnsweringGateway {
  readonly answers = new Map<string, AnswerAbout>();
  /** Of ids that have no answer of their own. */
  otherwise: AnswerAbout = { responseCode: 'B0029', responseDescription: 'Original not found' };
  /** The ids asked about, in order. */
  readonly asked: string[] = [];
  /** The paths of requests other than inquiries: there must be none. */
  readonly others: string[] = [];
  /** How many inquiries were under way at once at most. */
  mostAtOnce = 0;
  /** Called when an inquiry has come, before it is answered. */
  onAsked: (id: string) => Promise<void> = () => Promise.resolve();
  private underWay = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<AnsweringGateway> {
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => void gateway.answer(request.url ?? '', body, response));
    });
    const gateway = new AnsweringGateway(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(path: string, body: string, response: ServerResponse): Promise<void> {
    if (path !== '/v1/Payment/CheckPayment') {
      this.others.push(path);
      response.writeHead(500).end();
      return;
    }
    const { conversationId } = JSON.parse(body) as { readonly conversationId: string };
    this.asked.push(conversationId);
    this.underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.underWay);
    response.on('close', () => (this.underWay -= 1));
    await this.onAsked(conversationId);
    const answer = this.answers.get(conversationId) ?? this.otherwise;
    if (answer === 'hang') return;
    if (answer === 'close') response.destroy();
    else if (typeof answer === 'function') answer(response);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
}

/** The answer about a sale that was approved. */
export function approved(amount: number, more: object = {}): object {
  return {
    responseCode: 'B0000',
    responseDescription: 'Approved',
    transactionStatus: 'SUCCESS',
    transactionType: 'SALE',
    paymentInfo: { amount, currency: '949' },
    ...more,
  };
}

import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listener, listen } from '../rigs/sockets.js';

/** What is paid or given back under this id has no clear outcome. */
export const UNCLEAR_ID = 'UNCLEAR0000000000001';

const PAGE = '<!DOCTYPE html><html><body><form action="https://bank.example"></form></body></html>';

interface Body {
  readonly conversationId?: string;
  readonly transactionDetails?: { readonly amount?: string | number };
}

/** A request as it came over the socket, but for the port of the gateway. */
export interface RecordedRequest {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** A gateway that keeps what it is sent, and approves it. */
export class RecordingGateway {
  readonly requests: RecordedRequest[] = [];
  private amount?: string | number;
  private listener?: Listener;
  private readonly server = createServer((request, response) => {
    void text(request).then((body) => {
      this.requests.push(recorded(request, body));
      response.end(JSON.stringify(this.answer(request.url ?? '', fieldsIn(body))));
    });
  });

  /** @returns its address */
  async listen(): Promise<string> {
    this.listener = await listen(this.server);
    return `http://127.0.0.1:${this.listener.port}`;
  }

  async close(): Promise<void> {
    await this.listener?.close();
  }

  /** It remembers the amount, since an approval of Auth3d is believed only if it names it. */
  private answer(path: string, { conversationId, transactionDetails }: Body): object {
    this.amount = transactionDetails?.amount ?? this.amount;
    const code = conversationId === UNCLEAR_ID ? 'B0096' : 'B0000';
    const result = { conversationId, orderId: 'ORDER-1', paymentId: 'PAYMENT-1', paymentInfo: { amount: this.amount } };
    if (path.endsWith('/Init3d')) return { code, ...result, htmlForm: Buffer.from(PAGE).toString('base64') };
    if (path.endsWith('/CheckPayment')) return { responseCode: code, responseDescription: 'Approved', ...result };
    if (path.endsWith('/HostedPaymentRedirect')) return { code, conversationId, returnUrl: 'https://page.example/1' };
    if (path.endsWith('/CreatePaymentForm')) return { code, conversationId, paymentFormContent: PAGE };
    return { code, ...result };
  }
}

/** Empty if it is no JSON, so that a flaw of a body fails the comparison instead of holding up the client. */
function fieldsIn(body: string): Body {
  try {
    return JSON.parse(body) as Body;
  } catch {
    return {};
  }
}

function recorded({ method, url, rawHeaders }: IncomingMessage, body: string): RecordedRequest {
  const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
  return {
    line: `${method} ${url}`,
    headers: headers.map((header) => header.replace(/(127\.0\.0\.1):\d+$/, '$1')),
    body,
  };
}

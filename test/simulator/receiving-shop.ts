import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A shop that keeps what browsers and banks post to it, and serves a checkout with a form in a frame. */
export class ReceivingShop {
  readonly received: { readonly path: string; readonly type: string; readonly fields: Record<string, string> }[] = [];
  framed = '';
  private readonly server = createServer((request, response) => {
    void this.keep(request).then(() => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(request.url === '/checkout' ? this.checkout() : '<h1>thanks</h1>');
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
  }

  private async keep(request: IncomingMessage): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method, url = '', headers } = request;
    const fields = Object.fromEntries(new URLSearchParams(body));
    if (method === 'POST') this.received.push({ path: url, type: headers['content-type'] ?? '', fields });
  }

  private checkout(): string {
    const content = this.framed.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
    return `<!doctype html><h1>shop</h1><iframe name="pay" width="500" height="900" srcdoc="${content}"></iframe>`;
  }
}

import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from './sockets.js';

/** What arrives: the path's last part, and the body. */
export interface Asked {
  readonly operation: string;
  readonly url: string;
  readonly body: Record<string, unknown>;
}

/** A gateway that answers as a test says, after it has read the request. */
export async function answeringGateway(answer: (asked: Asked, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    const operation = url.split('/').at(-1) ?? '';
    void json(request).then((body) => answer({ operation, url, body: body as Asked['body'] }, response));
  });
  const { port, close } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, close };
}

import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './sockets.js';

/** What arrives: the path's last part, and the body, also as it was sent. */
export interface Asked {
  readonly operation: string;
  readonly url: string;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** A gateway that answers as a test says, after it has read the request. */
export async function answeringGateway(answer: (asked: Asked, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    const operation = url.split('/').at(-1) ?? '';
    void text(request).then((sent) =>
      answer({ operation, url, body: JSON.parse(sent) as Asked['body'], text: sent }, response),
    );
  });
  const { port, close } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, close };
}

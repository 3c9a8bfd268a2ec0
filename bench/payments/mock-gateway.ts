import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTo } from './gateway-answers.js';

/** The answer to a request's text at a path; null where nothing is. */
export type Answers = (path: string, request: string) => string | null;

export interface MockGateway {
  readonly url: string;
  /** How many connections were made to it. */
  connections(): number;
  close(): Promise<void>;
}

/** The gateway of all subjects: it answers at once, in the form of each client, and keeps connections open. */
export async function startMockGateway(answers: Answers = answerTo): Promise<MockGateway> {
  let connections = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const answer = answers(request.url ?? '', body);
      const text = answer ?? '{}';
      response
        .writeHead(answer === null ? 404 : 200, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        })
        .end(text);
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

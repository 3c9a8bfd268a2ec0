// A gateway in a process of its own. It reports when that many payments wait for it, and approves them on request.
import { createServer } from 'node:http';

const AT_ONCE = Number(process.argv[2]);
let waiting = [];

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { conversationId } = JSON.parse(Buffer.concat(chunks).toString());
    waiting.push({ response, conversationId });
    if (waiting.length === AT_ONCE) process.send('all wait');
  });
});
process.on('message', () => {
  for (const { response, conversationId } of waiting) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ code: 'B0000', message: 'Approved', conversationId, resultCode: 'B0000' }));
  }
  waiting = [];
});
server.listen(0, '127.0.0.1', AT_ONCE, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());

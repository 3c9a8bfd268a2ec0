// A gateway in a process of its own, which approves a payment some time after it was asked.
import { createServer } from 'node:http';

const DELAY_MS = Number(process.argv[2]);

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { conversationId } = JSON.parse(Buffer.concat(chunks).toString());
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ code: 'B0000', message: 'Approved', conversationId, resultCode: 'B0000' }));
    }, DELAY_MS);
  });
});
server.listen(0, '127.0.0.1', 4096, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());

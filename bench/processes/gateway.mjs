// A gateway that approves at once and counts what it is asked, in a process of its own.
import { createServer } from 'node:http';
import { serveTasks } from '../../test/services/tasks.mjs';

const PAGE = Buffer.from('<html><body><form></form></body></html>').toString('base64');

/** Where the bank is to send the buyer back, of each payment since it was last asked. */
let returns = [];
/** How often each payment was authorized. */
const authorized = new Map();

function answerTo(path, body) {
  const { conversationId } = body;
  const approved = { code: 'B0000', message: 'Approved', conversationId };
  if (path.endsWith('Init3d')) {
    returns.push({ conversationId, path: new URL(body.returnUrl).pathname });
    return { ...approved, htmlForm: PAGE };
  }
  authorized.set(conversationId, (authorized.get(conversationId) ?? 0) + 1);
  return {
    ...approved,
    orderId: 'ORD000000001',
    paymentId: '7000000001',
    bankUniqueReferenceNumber: '503615446559',
    currency: '949',
    authCode: '446559',
    paymentInstrumentType: 'CARDPAYMENT',
    instrumentDetail: { maskedCardNumber: '450803******4509', cardType: 'CARD' },
    paymentInfo: { installmentCount: 1, amount: 149.9 },
  };
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const text = JSON.stringify(answerTo(request.url, JSON.parse(Buffer.concat(chunks).toString())));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
});
server.keepAliveTimeout = 60_000;
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

serveTasks({
  url: () => `http://127.0.0.1:${server.address().port}`,
  returns: () => {
    const taken = returns;
    returns = [];
    return taken;
  },
  /** How often each of these payments was authorized: a list of distinct numbers. */
  authorized: (ids) => [...new Set(ids.map((id) => authorized.get(id) ?? 0))],
  end: () => server.closeAllConnections(),
});

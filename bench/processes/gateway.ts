// A gateway that approves at once and counts what it is asked, in a process of its own.
import { serveTasks } from '../../test/rigs/tasks.mjs';
import { answerTo } from '../payments/gateway-answers.js';
import { startMockGateway } from '../payments/mock-gateway.js';

/** Where the bank is to send the buyer back, for each payment since the last request for this list. */
const returns: { conversationId: string; path: string }[] = [];
/** How often each payment was authorized. */
const authorized = new Map<string, number>();

const gateway = await startMockGateway((path, request) => {
  const { conversationId, returnUrl } = JSON.parse(request) as { conversationId: string; returnUrl: string };
  if (path.endsWith('Init3d')) returns.push({ conversationId, path: new URL(returnUrl).pathname });
  else authorized.set(conversationId, (authorized.get(conversationId) ?? 0) + 1);
  return answerTo(path, request);
});

serveTasks({
  url: () => gateway.url,
  returns: () => returns.splice(0),
  /** How often each of these payments was authorized: a list of distinct numbers. */
  authorized: (ids: readonly string[]) => [...new Set(ids.map((id) => authorized.get(id) ?? 0))],
  end: () => gateway.close(),
});

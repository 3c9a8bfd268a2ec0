import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { GatewayReply, Transmission } from '../../../lib/gateway/transport/attempt.js';
import { closeAll, dispatcherOf, requestTo, transportOf } from './gateways.js';

const REQUEST = requestTo('http://gateway.example/pay');
const SHORT = 200;

/**
 * What a host's own dispatcher does with a request, in turn: it starts it, asks for the body, and brings the answer. It
 * goes on whatever it is told. After `|` it does so when the outcome is known. `late` holds the event loop up until the
 * deadline is past; from `stuck` on nothing can be aborted; at `over` the claim runs out.
 */
type Script = string;

/** Sends a request through that dispatcher. @returns the outcome, what came of the steps, and the time left to start */
async function play(script: Script): Promise<[Transmission, told: string, left: number[]]> {
  const told: string[] = [];
  const left: number[] = [];
  let [isStuck, isOver] = [false, false];
  const abort = (): void => {
    told.push('aborted');
    if (isStuck) throw new Error('stuck');
  };
  const [now = '', later = ''] = script.split('|');
  let goOn = (): void => undefined;
  const dispatcher = dispatcherOf((options, handler) => {
    const controller = { abort } as unknown as Dispatcher.DispatchController;
    const steps: Readonly<Record<string, () => unknown>> = {
      start: () => handler.onRequestStart?.(controller, {}),
      body: () => {
        const body = options.body as unknown as Iterable<Buffer>;
        try {
          told.push(Buffer.concat([...body]).toString() === REQUEST.body ? 'written' : 'garbled');
        } catch (error) {
          told.push((error as Error).message.includes('once') ? 'refused' : String(error));
        }
      },
      reply: () => handler.onResponseStart?.(controller, 200, {}, 'OK'),
      data: () => handler.onResponseData?.(controller, Buffer.from('{}')),
      end: () => handler.onResponseEnd?.(controller, {}),
      error: () => handler.onResponseError?.(controller, new Error('gone')),
      throw: () => {
        throw new Error('out of order');
      },
      late: () => {
        const end = performance.now() + SHORT + 50;
        while (performance.now() < end);
      },
      stuck: () => (isStuck = true),
      over: () => (isOver = true),
    };
    const run = (part: string): void => part.split(' ').forEach((step) => steps[step]?.());
    goOn = () => run(later);
    run(now);
    return true;
  });
  const timeoutMs = /late|\|/.test(script) ? SHORT : 10_000;
  const mayStart = (ms: number): boolean => (left.push(ms), !isOver);
  const claim = { timeoutMs, confirmTime: () => Promise.resolve(true), mayStart };
  const timers = countTimers();
  const outcome = await transportOf({ dispatcher }).post(REQUEST, claim);
  expect(countTimers()).toBeLessThanOrEqual(timers);
  goOn();
  await nextTurn();
  return [outcome, told.join(' '), left.map((ms) => ms / timeoutMs)];
}

/** A timer that is left over keeps the process alive. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
}

const FAILED = { sent: false, cause: 'connection_failed' };
const LATE = { sent: false, cause: 'deadline' };
const OVER = { sent: false, cause: 'claim_over' };
const LOST = { sent: true, reply: null, cause: 'connection_lost' };
const NO_ANSWER = { sent: true, reply: null, cause: 'deadline' };
const ANSWERED = { sent: true, reply: { status: 200, text: '{}' } satisfies GatewayReply };

describe('an attempt', () => {
  afterEach(closeAll);

  it.each<[Script, outcome: object, told?: string]>([
    ['start body reply data end', ANSWERED, 'written'],
    ['body reply data end error', ANSWERED, 'written'],
    // Not sent, which is proven only by a dispatcher that never began.
    ['error', FAILED],
    ['throw', FAILED],
    ['throw|start body', FAILED, 'aborted refused'],
    ['|start body', LATE, 'aborted refused'],
    ['|body', LATE, 'refused'],
    ['late start body', LATE, 'aborted refused'],
    ['late body', LATE, 'refused'],
    ['over start body', OVER, 'aborted refused'],
    ['over body', OVER, 'refused'],
    // Something may have been written.
    ['start error', LOST, 'aborted'],
    ['start throw', LOST, 'aborted'],
    ['body error', LOST, 'written'],
    ['body throw', LOST, 'written'],
    ['reply error', LOST],
    ['start body|reply data end', NO_ANSWER, 'written aborted'],
    ['body reply data|end', NO_ANSWER, 'written'],
    ['stuck start|body', NO_ANSWER, 'aborted refused'],
    ['start over body reply data end', ANSWERED, 'written'],
    ['start body over error', LOST, 'written aborted'],
    // Sent once.
    ['start body start body reply data end', ANSWERED, 'written aborted refused'],
    ['body body reply data end', ANSWERED, 'written refused'],
    ['start body error start body', LOST, 'written aborted aborted refused'],
    ['body error body', LOST, 'written refused'],
    ['start start error', LOST, 'aborted aborted'],
    ['start body reply data end|start body', ANSWERED, 'written aborted refused'],
  ])('%s', async (script, outcome, told = '') => {
    const [found, seen, left] = await play(script);
    expect([found, seen]).toEqual([outcome, told]);
    // What is left of the deadline is judged, once, as the request begins.
    const isJudged = /^(?:over )?(?:start|body|stuck)/.test(script);
    expect(left).toEqual(isJudged ? [expect.any(Number)] : []);
    for (const share of left) expect(share > 0.5 && share <= 1).toBe(true);
  });

  it.each<[isShown: boolean, thrown: object[]]>([
    // The last one as OpenSSL 3.5 names an alert.
    [
      true,
      [
        { code: 'ECONNREFUSED' },
        { code: 'UND_ERR_SOCKET' },
        { code: 'CERT_HAS_EXPIRED' },
        { code: 'SELF_SIGNED_CERT_IN_CHAIN' },
        { code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE' },
      ],
    ],
    // A host's own dispatcher may throw anything.
    [false, [{ code: '4508034508034509' }, { code: 'ECONN refused' }, { code: 'ERR_4508 034' }, { code: 7 }, {}]],
  ])('shows a code that has a known form: %s', async (isShown, errors) => {
    for (const error of errors) {
      const dispatcher = dispatcherOf(() => {
        throw Object.assign(new Error('gone'), error);
      });
      expect(await transportOf({ dispatcher }).post(REQUEST)).toEqual({
        ...FAILED,
        ...(isShown && { errorCode: (error as { code: string }).code }),
      });
    }
  });
});

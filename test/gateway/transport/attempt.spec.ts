import type { Dispatcher } from 'undici';
import { Attempt } from '../../../lib/gateway/transport/attempt.js';
import type { Transmission } from '../../../lib/gateway/transport/attempt.js';

/** Replaces undici in a transmission. */
class Controller {
  readonly aborted: Error[] = [];
  abort(reason: Error): void {
    this.aborted.push(reason);
  }
}

function controller(): Controller & Dispatcher.DispatchController {
  return new Controller() as Controller & Dispatcher.DispatchController;
}

const attempts: Attempt[] = [];

function begun(body = '{"a":"Ş"}'): { attempt: Attempt; handler: Dispatcher.DispatchHandler } {
  const attempt = new Attempt(body, 60_000);
  attempts.push(attempt);
  return { attempt, handler: attempt.handler() };
}

/** The outcome so far; null while there is none. */
function known({ outcome }: Attempt): Promise<Transmission | null> {
  return Promise.race([outcome, new Promise<null>((resolve) => setImmediate(() => resolve(null)))]);
}

const NOT_SENT = { sent: false, cause: 'connection_failed' };
const LOST = { sent: true, reply: null, cause: 'connection_lost' };

describe('an attempt', () => {
  afterEach(() => {
    for (const attempt of attempts.splice(0)) attempt.lose('deadline');
  });

  it('is given to one taker, with the length of its body in bytes', () => {
    const { attempt } = begun();
    expect([attempt.take(), attempt.take()]).toEqual([10, null]);
  });

  it('is not to be had once it is over', async () => {
    const { attempt } = begun();
    attempt.interceptorsDone();
    expect(attempt.take()).toBeNull();
    expect(await known(attempt)).toEqual({ sent: false, cause: 'interceptor_failed' });
  });

  it('goes on without the interceptors once it was taken', async () => {
    const { attempt } = begun();
    attempt.take();
    attempt.interceptorsDone();
    expect(await known(attempt)).toBeNull();
  });

  it('hands its body out once, and none when it is over', () => {
    const { attempt } = begun();
    expect(Buffer.concat([...attempt.handOut()]).toString()).toBe('{"a":"Ş"}');
    expect(() => [...attempt.handOut()]).toThrow('once');
    const { attempt: other } = begun();
    other.lose('connection_lost');
    expect(() => [...other.handOut()]).toThrow('once');
  });

  it('is proven not to be sent only as long as nothing began', async () => {
    const { attempt, handler } = begun();
    handler.onResponseError?.(controller(), new Error('refused'));
    expect(await known(attempt)).toEqual(NOT_SENT);

    const announced = begun();
    announced.handler.onRequestStart?.(controller(), {});
    announced.handler.onResponseError?.(controller(), new Error('ECONNREFUSED'));
    expect(await known(announced.attempt)).toEqual(LOST);

    const handedOut = begun();
    handedOut.attempt.handOut().next();
    handedOut.attempt.lose('connection_lost');
    expect(await known(handedOut.attempt)).toEqual(LOST);
  });

  it('cuts a second start off, and lets the first go on', async () => {
    const { attempt, handler } = begun();
    const [first, second] = [controller(), controller()];
    handler.onRequestStart?.(first, {});
    handler.onRequestStart?.(second, {});
    expect([first.aborted.length, second.aborted.length]).toEqual([0, 1]);
    handler.onResponseStart?.(first, 200, {}, 'OK');
    handler.onResponseData?.(first, Buffer.from('{}'));
    handler.onResponseEnd?.(first, {});
    expect(await known(attempt)).toEqual({ sent: true, reply: { status: 200, text: '{}' } });
  });

  it('cuts a start off that comes when it is over', () => {
    const { attempt, handler } = begun();
    attempt.lose('deadline');
    const late = controller();
    handler.onRequestStart?.(late, {});
    expect(late.aborted).toHaveLength(1);
  });

  describe('whose claim has run out', () => {
    const OVER = { sent: false, cause: 'claim_over' };
    let left: number[];

    function late(): ReturnType<typeof begun> {
      left = [];
      const attempt = new Attempt('{}', 60_000, (ms) => (left.push(ms), false));
      attempts.push(attempt);
      return { attempt, handler: attempt.handler() };
    }

    it('is cut off as it begins, with what is left of its deadline judged', async () => {
      const { attempt, handler } = late();
      const beginning = controller();
      handler.onRequestStart?.(beginning, {});
      expect(beginning.aborted).toHaveLength(1);
      expect(await known(attempt)).toEqual(OVER);
      expect(() => [...attempt.handOut()]).toThrow('once');
      expect(left).toEqual([expect.any(Number)]);
      expect(left[0]).toBeGreaterThan(50_000);
      expect(left[0]).toBeLessThanOrEqual(60_000);
    });

    it('gives no body to a dispatcher that does not say that it begins', async () => {
      const { attempt } = late();
      expect(() => [...attempt.handOut()]).toThrow('once');
      expect(await known(attempt)).toEqual(OVER);
    });

    it('goes on where it ran out after the beginning: something may have been written', async () => {
      let mayStart = true;
      const attempt = new Attempt('{}', 60_000, () => mayStart);
      attempts.push(attempt);
      attempt.handler().onRequestStart?.(controller(), {});
      mayStart = false;
      expect([...attempt.handOut()]).toHaveLength(1);
      expect(await known(attempt)).toBeNull();
    });
  });

  it('is over as soon as the reply has more than a mebibyte', async () => {
    const { attempt, handler } = begun();
    const running = controller();
    handler.onRequestStart?.(running, {});
    handler.onResponseStart?.(running, 200, {}, 'OK');
    handler.onResponseData?.(running, Buffer.alloc(1_048_576));
    expect(await known(attempt)).toBeNull();
    handler.onResponseData?.(running, Buffer.alloc(1));
    expect(await known(attempt)).toEqual({ sent: true, reply: null, cause: 'reply_too_large' });
    expect(running.aborted).toHaveLength(1);
  });

  it('keeps the first outcome, and stops what runs', async () => {
    const { attempt, handler } = begun();
    const running = controller();
    handler.onRequestStart?.(running, {});
    attempt.lose('deadline');
    handler.onResponseStart?.(running, 200, {}, 'OK');
    handler.onResponseEnd?.(running, {});
    expect(await known(attempt)).toEqual({ sent: true, reply: null, cause: 'deadline' });
    expect(running.aborted).toHaveLength(1);
  });
});

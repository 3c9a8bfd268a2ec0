import type { Dispatcher } from 'undici';
import { Attempt, type Transmission } from '../../../lib/gateway/transport/attempt.js';

const attempts: Attempt[] = [];

function begun(mayStart: (left: number) => boolean): { attempt: Attempt; handler: Dispatcher.DispatchHandler } {
  const attempt = new Attempt('{}', 60_000, mayStart);
  attempts.push(attempt);
  return { attempt, handler: attempt.handler() };
}

/** In place of undici's. */
function controller(abort: () => void = () => undefined): Dispatcher.DispatchController {
  return { abort } as unknown as Dispatcher.DispatchController;
}

/** The outcome so far; null while there is none. */
function known({ outcome }: Attempt): Promise<Transmission | null> {
  return Promise.race([outcome, new Promise<null>((resolve) => setImmediate(() => resolve(null)))]);
}

const OVER = { sent: false, cause: 'claim_over' };

// The rest of an attempt is shown over real connections, by the suites of the transport.
describe('an attempt', () => {
  afterEach(() => {
    for (const attempt of attempts.splice(0)) attempt.lose('deadline');
  });

  it('is over as soon as the reply has more than a mebibyte', async () => {
    const { attempt, handler } = begun(() => true);
    handler.onRequestStart?.(controller(), {});
    handler.onResponseStart?.(controller(), 200, {}, 'OK');
    handler.onResponseData?.(controller(), Buffer.alloc(1_048_576));
    expect(await known(attempt)).toBeNull();
    handler.onResponseData?.(controller(), Buffer.alloc(1));
    expect(await known(attempt)).toEqual({ sent: true, reply: null, cause: 'reply_too_large' });
  });

  it('is cut off as it begins if its claim has run out, with what is left of its deadline judged', async () => {
    const left: number[] = [];
    const { attempt, handler } = begun((ms) => (left.push(ms), false));
    let aborted = 0;
    handler.onRequestStart?.(
      controller(() => (aborted += 1)),
      {},
    );
    expect([aborted, await known(attempt)]).toEqual([1, OVER]);
    expect(() => [...attempt.handOut()]).toThrow('once');
    expect(left).toEqual([expect.any(Number)]);
    expect(left[0]).toBeGreaterThan(50_000);
    expect(left[0]).toBeLessThanOrEqual(60_000);
  });

  it('whose claim has run out gives no body to a dispatcher that does not say that it begins', async () => {
    const { attempt } = begun(() => false);
    expect(() => [...attempt.handOut()]).toThrow('once');
    expect(await known(attempt)).toEqual(OVER);
  });

  it('goes on where its claim ran out after the beginning: something may have been written', async () => {
    let mayStart = true;
    const { attempt, handler } = begun(() => mayStart);
    handler.onRequestStart?.(controller(), {});
    mayStart = false;
    expect([...attempt.handOut()]).toHaveLength(1);
    expect(await known(attempt)).toBeNull();
  });
});

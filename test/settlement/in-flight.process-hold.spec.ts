import { ProcessHold } from '../../lib/settlement/in-flight.js';

describe('ProcessHold', () => {
  const hold = new ProcessHold();
  const activeTimers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

  it('keeps the process alive until it is released', () => {
    const before = activeTimers();
    const release = hold.hold();
    expect(activeTimers()).toBe(before + 1);
    release();
    expect(activeTimers()).toBe(before);
  });

  it.each<[string, () => Promise<string>]>([
    ['succeeds', () => Promise.resolve('written')],
    ['fails', () => Promise.reject(new Error('down'))],
  ])('keeps the process alive only during work that %s', async (_how, work) => {
    const before = activeTimers();
    let during = 0;
    const ended = hold.during(() => ((during = activeTimers()), work()));
    expect(during).toBe(before + 1);
    expect(await ended.catch((error: Error) => error.message)).toMatch(/written|down/);
    expect(activeTimers()).toBe(before);
  });
});

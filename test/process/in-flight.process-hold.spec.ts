import { ProcessHold } from '../../lib/process/in-flight.js';

describe('ProcessHold', () => {
  const hold = new ProcessHold();
  const holding = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

  it('keeps the process alive until it is let go', () => {
    const before = holding();
    const letProcessEnd = hold.hold();
    expect(holding()).toBe(before + 1);
    letProcessEnd();
    expect(holding()).toBe(before);
  });

  it.each<[string, () => Promise<string>]>([
    ['succeeds', () => Promise.resolve('written')],
    ['fails', () => Promise.reject(new Error('down'))],
  ])('keeps it alive during work, and no longer, where that %s', async (_how, work) => {
    const before = holding();
    let during = 0;
    const ended = hold.during(() => ((during = holding()), work()));
    expect(during).toBe(before + 1);
    expect(await ended.catch((error: Error) => error.message)).toMatch(/written|down/);
    expect(holding()).toBe(before);
  });
});

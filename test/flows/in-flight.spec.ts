import { InFlight } from '../../lib/flows/in-flight.js';

describe('InFlight', () => {
  it('waits for what runs, and not for what begins meanwhile: a busy shop can shut down', async () => {
    const inFlight = new InFlight();
    const first = gate();
    const second = gate();
    const one = inFlight.run(() => first.passed);
    let hasEnded = false;
    const ended = inFlight.ended().then(() => (hasEnded = true));
    const two = inFlight.run(() => second.passed);
    await Promise.resolve();
    expect(hasEnded).toBe(false);
    first.pass();
    await Promise.all([one, ended]);
    expect(hasEnded).toBe(true);
    second.pass();
    await two;
  });

  it('keeps the process alive while a payment runs, and no longer', async () => {
    const inFlight = new InFlight();
    const before = timers();
    const open = gate();
    const run = inFlight.run(() => open.passed);
    const failing = inFlight.run(() => open.passed.then(() => Promise.reject(new Error('declined'))));
    expect(timers()).toBe(before + 1);
    open.pass();
    await Promise.allSettled([run, failing]);
    expect(timers()).toBe(before);
  });
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

function gate(): { passed: Promise<void>; pass: () => void } {
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass };
}

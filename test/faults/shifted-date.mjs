// Loaded before anything else (`--import`), it sets this process's wall clock ahead by CLOCK_AHEAD_MS. Nothing else is
// moved: monotonic clocks and timers go on as they do on a host whose clock is wrong.
const aheadMs = Number(process.env.CLOCK_AHEAD_MS);
if (!Number.isFinite(aheadMs)) throw new Error('CLOCK_AHEAD_MS says by how much');

const shifted = (date) => date.now() + aheadMs;

globalThis.Date = new Proxy(Date, {
  construct: (date, given, newTarget) => Reflect.construct(date, given.length > 0 ? given : [shifted(date)], newTarget),
  apply: (date) => new date(shifted(date)).toString(),
  get: (date, name, receiver) => (name === 'now' ? () => shifted(date) : Reflect.get(date, name, receiver)),
});

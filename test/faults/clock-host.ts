import type { PaymentOptions } from 'nestjs-card-payment';
import { type AskedTasks, TaskProcess } from '../rigs/task-process.js';
import type { ClockHostTasks } from './clock-host-process.js';

const SCRIPT = new URL('clock-host-process.ts', import.meta.url);
const SHIFTED_DATE = new URL('shifted-date.mjs', import.meta.url);

export type ClockHost = AskedTasks<ClockHostTasks>;

/** A host whose wall clock is wrong: a process of its own, whose `Date` is set ahead before anything is loaded. */
export async function forkClockHost(account: PaymentOptions, aheadMs: number): Promise<ClockHost> {
  const env = { ...process.env, CLOCK_AHEAD_MS: String(aheadMs) };
  const forked = await TaskProcess.fork(SCRIPT, account, { env, execArgv: ['--import', SHIFTED_DATE.href] });
  return forked.as<ClockHostTasks>();
}

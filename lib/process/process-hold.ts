import { Injectable } from '@nestjs/common';
import { MAX_TIMER_MS } from '../options/option-kinds.js';

/** Keeps the process from ending by itself. The clock's timers do not: a script would end in the middle of a payment. */
@Injectable()
export class ProcessHold {
  /** The process does not end before what this returns is called. */
  hold(): () => void {
    const timer = setInterval(() => undefined, MAX_TIMER_MS);
    return () => clearInterval(timer);
  }

  /** The process does not end before this work has. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const letProcessEnd = this.hold();
    try {
      return await work();
    } finally {
      letProcessEnd();
    }
  }
}

import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

export interface Logged {
  readonly warn: string[];
  readonly log: string[];
}

/** What is logged from now on, until mocks are restored. */
export function spyOnLogger(): Logged {
  const logged: Logged = { warn: [], log: [] };
  for (const level of ['warn', 'log'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((text: unknown) => void logged[level].push(String(text)));
  }
  return logged;
}

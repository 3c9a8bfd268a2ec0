import { inspect } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { jest } from '@jest/globals';
import type { Evidence } from './secret-search.js';

/** Records everything that is logged, thrown, published, shown or stored, in every way in which it could be printed. */
export class Notebook {
  readonly evidence: Evidence[] = [];
  private readonly undo: (() => void)[] = [];

  note(source: string, value: unknown): void {
    for (const text of textsOf(value)) this.evidence.push({ source, text });
  }

  /** A logger that hides nothing. */
  get logger(): LoggerService {
    const note =
      (level: string) =>
      (...parts: unknown[]): void => {
        for (const part of parts) this.note(`log: ${level}`, part);
      };
    return {
      log: note('log'),
      error: note('error'),
      warn: note('warn'),
      debug: note('debug'),
      verbose: note('verbose'),
      fatal: note('fatal'),
    };
  }

  /** Records what is printed without the logger. */
  listen(): void {
    for (const stream of [process.stdout, process.stderr]) {
      const write = jest.spyOn(stream, 'write').mockImplementation((text) => {
        this.note('output', String(text));
        return true;
      });
      this.undo.push(() => write.mockRestore());
    }
    for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
      const spy = jest.spyOn(console, method).mockImplementation((...parts: unknown[]) => this.note('console', parts));
      this.undo.push(() => spy.mockRestore());
    }
    const onWarning = (warning: Error): void => this.note('process warning', warning);
    process.on('warning', onWarning);
    this.undo.push(() => process.off('warning', onWarning));
  }

  stop(): void {
    for (const undo of this.undo.splice(0)) undo();
  }

  /** Runs something that may fail, and records what it returns or throws. */
  async watch<T>(source: string, run: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await run();
      this.note(`${source}: result`, result);
      return result;
    } catch (error) {
      this.note(`${source}: error`, error);
      return undefined;
    }
  }

  /** What a browser gets. */
  async page(source: string, url: string, request: RequestInit = {}): Promise<void> {
    const answer = await fetch(url, { ...request, redirect: 'manual' });
    this.note(`${source}: headers`, [...answer.headers].join('\n'));
    this.note(`${source}: page`, await answer.text());
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  const texts = [inspect(value, { depth: 10, showHidden: true, maxArrayLength: null, maxStringLength: null })];
  const json = jsonOf(value);
  if (json !== undefined) texts.push(json);
  if (value instanceof Error) texts.push(value.message, value.stack ?? '', String(value), inspect(value));
  return texts;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

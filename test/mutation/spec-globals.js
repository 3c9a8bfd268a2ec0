// Jest's functions that the tests call, for a process that keeps its modules from one run to the next: see
// one-process-runner.js.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { bind } = require('jest-each');
const { ModuleMocker } = require('jest-mock');
const { LegacyFakeTimers: _, ModernFakeTimers } = require('@jest/fake-timers');

export const { expect } = require('expect');

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {}, rootDir: process.cwd() }, global: globalThis });

export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  useFakeTimers: (options) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  getTimerCount: () => timers.getTimerCount(),
};

/** A `describe` or a whole file. */
class Suite {
  hooks = { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] };
  children = [];

  constructor(name, parent, file) {
    this.name = name;
    this.parent = parent;
    this.file = file;
  }
}

let current = null;

function declareSuite(name, define) {
  const suite = new Suite([current.name, nameOf(name)].filter(Boolean).join(' '), current, current.file);
  current.children.push(suite);
  current = suite;
  define();
  current = suite.parent;
}

function declareTest(name, run) {
  const { file } = current;
  current.children.push({ id: [current.name, nameOf(name)].filter(Boolean).join(' '), file, suite: current, run });
}

function nameOf(name) {
  return typeof name === 'function' ? name.name : String(name);
}

function hook(kind) {
  return (run) => void current.hooks[kind].push(run);
}

export const describe = Object.assign((...args) => declareSuite(...args), { each: bind(declareSuite, false) });
export const test = Object.assign((...args) => declareTest(...args), { each: bind(declareTest) });
export const it = test;
export const beforeAll = hook('beforeAll');
export const beforeEach = hook('beforeEach');
export const afterEach = hook('afterEach');
export const afterAll = hook('afterAll');

Object.assign(globalThis, { describe, test, it, beforeAll, beforeEach, afterEach, afterAll, expect });

/** Loads a file of tests, and returns them as a suite. */
export async function readSuite(file, url) {
  const suite = (current = new Suite('', null, file));
  await import(url);
  return suite;
}

export function testsOf(suite) {
  return suite.children.flatMap((child) => (child instanceof Suite ? testsOf(child) : [child]));
}

/**
 * Runs the wanted tests of a suite.
 *
 * @param {{ isWanted(test): boolean, around(test, run: () => Promise<void>): Promise<void>, isOver(): boolean }} run
 *   `around` gets each test with its hooks; `isOver` says that no further test need be begun
 */
export async function runSuite(suite, run) {
  if (!testsOf(suite).some(run.isWanted) || run.isOver()) return;
  let failure = null;
  try {
    for (const before of suite.hooks.beforeAll) await before();
  } catch (error) {
    failure = { error };
  }
  for (const child of suite.children) {
    if (child instanceof Suite) await runSuite(child, failure ? { ...run, around: fail(run, failure) } : run);
    else if (run.isWanted(child) && !run.isOver()) {
      await run.around(child, () => (failure ? Promise.reject(failure.error) : runTest(child)));
    }
  }
  for (const after of suite.hooks.afterAll) await after();
}

function fail(run, { error }) {
  return (test) => run.around(test, () => Promise.reject(error));
}

async function runTest({ suite, run }) {
  const suites = [];
  for (let each = suite; each; each = each.parent) suites.unshift(each);
  mocker.restoreAllMocks();
  try {
    for (const each of suites) for (const before of each.hooks.beforeEach) await before();
    await run();
  } finally {
    for (const each of suites.reverse()) for (const after of each.hooks.afterEach) await after();
  }
}

// A test runner for Stryker that loads the code and its tests once, and runs them again for each change. That is many
// times as fast as Jest, which loads everything for each run. Stryker's child process imports this file.
import { register } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * After this long a test counts as hung, and after three times as long as without any change where that is longer.
 * Almost all take some milliseconds.
 */
const TEST_TIMEOUT_MS = 6_000;
/** The same for a whole file. */
const FILE_TIMEOUT_MS = 60_000;
/** How many times as long each may take without any change. */
const DRY_RUN_PATIENCE = 5;

class OneProcessRunner {
  static inject = ['options'];

  #specs;
  #suites = null;
  #loads = 0;
  /** How long each test and each file takes without any change. */
  #usualMs = new Map();
  /** Whether the code was loaded without a change, and nothing has hung since. */
  #isReliable = false;

  constructor({ cardPaymentSpecs }) {
    this.#specs = cardPaymentSpecs;
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun() {
    await this.#load();
    const first = await this.#run({ isCovering: true, patience: DRY_RUN_PATIENCE });
    for (const { id, fileName, timeSpentMs } of first.tests) {
      this.#usualMs.set(id, timeSpentMs);
      this.#usualMs.set(fileName, timeSpentMs + (this.#usualMs.get(fileName) ?? 0));
    }
    // As it is now: what runs again below counts as run by no test, and everything would be loaded anew for each change.
    const mutantCoverage = structuredClone(context().mutantCoverage);
    // A test that fails at its second run because of what the first one left behind would seem to notice every change.
    const again = await this.#run();
    const tests = first.tests.map((test, index) => (test.status === PASSED ? again.tests[index] : test));
    return first.hung || again.hung ? { status: 'timeout' } : { status: 'complete', tests, mutantCoverage };
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit }) {
    const wanted = testFilter && new Set(testFilter);
    const change = { id: activeMutant.id, hitLimit, isWanted: ({ id }) => !wanted || wanted.has(id) };
    if (mutantActivation === 'static') return this.#try(change, () => this.#load());
    if (this.#isReliable) {
      const result = await this.#try(change);
      if (result.status === 'survived') return result;
      if (result.status === 'killed' && (await this.#passes(result.killedBy))) return result;
    }
    // The test may fail because of what an earlier change left behind: everything is loaded again.
    await this.#load();
    return this.#try(change);
  }

  /** @param before what is done with the change in place before the tests are run */
  async #try({ id, hitLimit, isWanted }, before = null) {
    Object.assign(context(), { activeMutant: id, hitLimit, hitCount: hitLimit ? 0 : undefined });
    this.#isReliable = false;
    try {
      await before?.();
      const { tests, hung } = await this.#run({ isWanted, isBailing: true });
      if (hung || (hitLimit !== undefined && context().hitCount > hitLimit)) return { status: 'timeout' };
      this.#isReliable = before === null;
      const killer = tests.find(({ status }) => status === FAILED);
      if (!killer) return { status: 'survived', nrOfTests: tests.length };
      const { failureMessage } = killer;
      return { status: 'killed', failureMessage, killedBy: [killer.id], nrOfTests: tests.length };
    } catch (error) {
      return { status: 'error', errorMessage: String(error) };
    } finally {
      Object.assign(context(), { activeMutant: undefined, hitLimit: undefined });
    }
  }

  async #load() {
    if (this.#loads === 0) {
      register('./module-hooks.js', import.meta.url, { data: { root: process.cwd() } });
      await import('reflect-metadata');
      await import('./no-shrinking.js');
    }
    this.#loads += 1;
    const { readSuite, testsOf } = await import('./spec-globals.js');
    const suites = [];
    for (const file of this.#specs) {
      const path = resolve(file);
      suites.push(await readSuite(path, `${pathToFileURL(path).href}?${this.#loads}`));
    }
    const seen = new Map();
    for (const test of suites.flatMap(testsOf)) {
      const count = (seen.get(test.id) ?? 0) + 1;
      seen.set(test.id, count);
      if (count > 1) test.id += ` (${count})`;
    }
    this.#suites = suites;
  }

  async #passes(killers) {
    const { tests } = await this.#run({ isWanted: ({ id }) => killers.includes(id) });
    return tests.every(({ status }) => status === PASSED);
  }

  async #run({ isWanted = () => true, isBailing = false, isCovering = false, patience = 1 } = {}) {
    const limitOf = (name, least) => patience * Math.max(least, 3 * (this.#usualMs.get(name) ?? 0));
    const { runSuite } = await import('./spec-globals.js');
    const tests = [];
    let hung = false;
    const isOver = () => hung || (isBailing && tests.some(({ status }) => status === FAILED));
    const around = async ({ id, file }, run) => {
      const began = performance.now();
      const stray = [];
      const note = (error) => void stray.push(error);
      process.on('uncaughtException', note);
      if (isCovering) context().currentTestId = id;
      let failure = null;
      try {
        hung = (await withTimeout(run(), limitOf(id, TEST_TIMEOUT_MS))) === HUNG;
        if (hung) failure = { error: 'hung' };
        else if (stray.length > 0) failure = { error: stray[0] };
      } catch (error) {
        failure = { error };
      }
      process.off('uncaughtException', note);
      context().currentTestId = undefined;
      tests.push({
        id,
        name: id,
        fileName: file,
        timeSpentMs: performance.now() - began,
        status: failure ? FAILED : PASSED,
        ...(failure && { failureMessage: String(failure.error?.stack ?? failure.error) }),
      });
    };
    for (const suite of this.#suites) {
      if (isOver()) break;
      const ran = tests.length;
      try {
        const ended = runSuite(suite, { isWanted, around, isOver });
        if ((await withTimeout(ended, limitOf(suite.file, FILE_TIMEOUT_MS))) === HUNG) hung = true;
      } catch (error) {
        if (tests.length > ran) Object.assign(tests.at(-1), { status: FAILED, failureMessage: String(error) });
      }
    }
    return { tests, hung };
  }
}

const PASSED = 0;
const FAILED = 1;
const HUNG = Symbol('hung');

// Not the global one, which a test may have replaced.
const { setTimeout: later, clearTimeout: cancel } = globalThis;

async function withTimeout(work, ms) {
  let timer;
  // Unreferenced: tests look which timers keep the process alive.
  const hung = new Promise((done) => (timer = later(() => done(HUNG), ms).unref()));
  try {
    return await Promise.race([work, hung]);
  } finally {
    cancel(timer);
  }
}

/** What Stryker's instrumented code shares with its runner. */
function context() {
  return (globalThis.__stryker__ ??= {});
}

// What a change leaves behind must not end the process of the others. A test under way notices the exception, see above.
process.on('uncaughtException', () => undefined);
process.on('unhandledRejection', () => undefined);

// As Jest does.
process.env.NODE_ENV ??= 'test';

export const strykerPlugins = [{ kind: 'TestRunner', name: 'one-process', injectableClass: OneProcessRunner }];

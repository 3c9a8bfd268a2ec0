/** Ends a run with a line of its own: `N passed, N failed`. A suite that could not run counts as failed. */
export default class PlainCountReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    // Jest prints its summary after every other reporter.
    process.once('exit', () => console.log(line));
  }
}

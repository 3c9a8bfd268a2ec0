/**
 * Does what the parent process asks, by the name of the task, until it asks for `end` or is gone: the other side of
 * `task-process.ts`. A process that `mustEndByItself` fails when something still runs in it after `end`.
 */
export function serveTasks(tasks, { mustEndByItself = false } = {}) {
  const all = { resources: () => process.getActiveResourcesInfo(), ...tasks };
  const exit = () => process.exit();
  process.on('disconnect', exit);
  process.on('message', async ({ number, task, input }) => {
    try {
      process.send({ number, output: await all[task](input) });
    } catch (error) {
      process.send({ number, error: `${task}: ${error.name}: ${error.message}` });
    }
    if (task !== 'end') return;
    if (mustEndByItself) {
      process.off('disconnect', exit);
      setTimeout(() => process.exit(1), 10_000).unref();
    }
    process.disconnect();
  });
  process.send({ number: 0, output: null });
}

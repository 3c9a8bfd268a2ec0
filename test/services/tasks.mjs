/** Does what the parent asks, by name, until it asks for the task `end` or is gone. See `task-process.ts`. */
export function serveTasks(tasks) {
  process.on('message', async ({ task, input }) => {
    try {
      process.send({ output: await tasks[task](input) });
    } catch (error) {
      process.send({ error: `${task}: ${error.name}: ${error.message}` });
    }
    if (task === 'end') process.disconnect();
  });
  process.on('disconnect', () => process.exit());
  process.send({ output: 'ready' });
}

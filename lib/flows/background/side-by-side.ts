/**
 * Works on all items, several at a time, in their order. A failure is thrown when all of them have ended: a shutdown
 * must not close the store under those that are left.
 */
export async function sideBySide<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const workOn = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, workOn));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason as Error;
}

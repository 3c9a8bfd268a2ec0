/**
 * Works on all items in their order, several at a time. Throws only when all of them have ended: a shutdown must not
 * close the store while some still run.
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

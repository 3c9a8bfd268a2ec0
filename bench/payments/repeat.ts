/** Does a task for each number from `from` on, `atOnce` of them at a time, and returns how long each took, in µs. */
export async function repeat(
  task: (number: number) => Promise<unknown>,
  { from, count, atOnce }: { readonly from: number; readonly count: number; readonly atOnce: number },
): Promise<Float64Array> {
  const took = new Float64Array(count);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const began = performance.now();
      await task(from + index);
      took[index] = (performance.now() - began) * 1000;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, work));
  return took;
}

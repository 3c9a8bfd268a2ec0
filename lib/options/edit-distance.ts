/**
 * How many typing mistakes lie between two words: a character missing, added, replaced, or swapped with its neighbour.
 */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? 0;
}

/** The word that is nearest to a mistyped one, or null where none is near. */
export function nearest(typed: string, words: readonly string[], maxDistance = 2): string | null {
  const [found] = words
    .map((word) => ({ word, distance: editDistance(typed, word) }))
    .filter(({ word, distance }) => distance <= Math.min(maxDistance, Math.floor(word.length / 2)))
    .sort((a, b) => a.distance - b.distance);
  return found?.word ?? null;
}

/** A line that was taken out (`-`), put in (`+`) or kept (` `). */
export interface DiffLine {
  readonly sign: '-' | '+' | ' ';
  readonly line: string;
}

/** Comparing takes time and memory that grow with the product of the lines. */
const MAX_LINES = 2_000;

/** The lines of both texts, by their longest common subsequence. Line ends do not count. */
export function diffOf(before: string, after: string): DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  if (old.length > MAX_LINES) return [...signed('-', old), ...signed('+', fresh)];
  const common = commonLengths(old, fresh);
  const diff: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      diff.push({ sign: ' ', line: old[i] ?? '' });
      i += 1;
      j += 1;
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) {
      diff.push({ sign: '-', line: old[i] ?? '' });
      i += 1;
    } else {
      diff.push({ sign: '+', line: fresh[j] ?? '' });
      j += 1;
    }
  }
  return [...diff, ...signed('-', old.slice(i)), ...signed('+', fresh.slice(j))];
}

/** For each pair of positions, how many lines the rests have in common. */
function commonLengths(old: readonly string[], fresh: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(fresh.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const row = lengths[i] ?? [];
    const below = lengths[i + 1] ?? [];
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      row[j] = old[i] === fresh[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

function linesOf(text: string): string[] {
  return text.trimEnd().split(/\r?\n/);
}

function signed(sign: '-' | '+', lines: readonly string[]): DiffLine[] {
  return lines.map((line) => ({ sign, line }));
}

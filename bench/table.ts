/** Prints rows in columns under a title. */
export function printTable(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const lines = [heads, ...rows].map((row) => row.map(String));
  const widths = heads.map((_head, column) => Math.max(...lines.map((line) => line[column]!.length)));
  console.log(`\n${title}`);
  for (const line of lines) console.log(`  ${line.map((text, i) => text.padStart(widths[i]!)).join('   ')}`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** One of each type, then the next of each, and so on, so that no type waits for a long queue of another one. */
export function takeInTurns<Row extends { readonly type: string }>(rows: readonly Row[], limit: number): Row[] {
  const turns = new Map<string, number>();
  const inTurns = rows.map((row) => {
    const turn = turns.get(row.type) ?? 0;
    turns.set(row.type, turn + 1);
    return { row, turn };
  });
  return inTurns
    .sort((one, other) => one.turn - other.turn)
    .slice(0, limit)
    .map(({ row }) => row);
}

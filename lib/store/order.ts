import type { ListPlace } from './payment-store.js';

/** By the time of creation, then by the bytes of the conversationId in UTF-8. */
export function byCreation(one: ListPlace, other: ListPlace): number {
  return byTime(one.createdAt, other.createdAt) || byBytes(one.conversationId, other.conversationId);
}

export function byTime(one: Date | null, other: Date | null): number {
  return (one?.getTime() ?? 0) - (other?.getTime() ?? 0);
}

export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

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

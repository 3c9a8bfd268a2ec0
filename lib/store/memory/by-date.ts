/** For sorting, oldest first. */
export function byDate<T>(dateOf: (one: T) => Date | null): (one: T, other: T) => number {
  return (one, other) => Number(dateOf(one)) - Number(dateOf(other));
}

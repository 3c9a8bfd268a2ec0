interface Entry {
  readonly key: string;
  readonly dueAt: number;
  /** The order in which entries were set, which decides between those due at the same time. */
  readonly order: number;
}

/** Keys in the order in which they are due: a binary heap that knows where each key is. */
export class DueQueue {
  // Truly private, so that a dump of the store shows neither: a count that happens to be 792 reads like a CVV.
  readonly #heap: Entry[] = [];
  readonly #places = new Map<string, number>();
  #orders = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Adds a key, or moves it to another time. */
  set(key: string, dueAt: Date): void {
    this.delete(key);
    this.#orders += 1;
    this.rise({ key, dueAt: dueAt.getTime(), order: this.#orders }, this.#heap.length);
  }

  delete(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    const last = this.#heap.pop();
    if (!last || last.key === key) return;
    if (place > 0 && isBefore(last, this.at(parentOf(place)))) this.rise(last, place);
    else this.sink(last, place);
  }

  /** When the first key is due, in milliseconds since 1970 UTC; Infinity if there is none. */
  get firstDueAt(): number {
    return this.#heap[0]?.dueAt ?? Infinity;
  }

  /** Removes and returns the first key, if it is due. */
  take(now: Date): string | undefined {
    const [first] = this.#heap;
    if (!first || first.dueAt > now.getTime()) return undefined;
    this.delete(first.key);
    return first.key;
  }

  private rise(entry: Entry, from: number): void {
    let place = from;
    while (place > 0 && isBefore(entry, this.at(parentOf(place)))) {
      this.put(this.at(parentOf(place)), place);
      place = parentOf(place);
    }
    this.put(entry, place);
  }

  private sink(entry: Entry, from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= this.#heap.length) break;
      const right = left + 1;
      const child = right < this.#heap.length && isBefore(this.at(right), this.at(left)) ? right : left;
      if (!isBefore(this.at(child), entry)) break;
      this.put(this.at(child), place);
      place = child;
    }
    this.put(entry, place);
  }

  private at(place: number): Entry {
    return this.#heap[place]!;
  }

  private put(entry: Entry, place: number): void {
    this.#heap[place] = entry;
    this.#places.set(entry.key, place);
  }
}

function parentOf(place: number): number {
  return (place - 1) >> 1;
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.order < other.order);
}

/** Sorts by date, the oldest first. */
export function byDate<T>(dateOf: (one: T) => Date | null): (one: T, other: T) => number {
  return (one, other) => Number(dateOf(one)) - Number(dateOf(other));
}

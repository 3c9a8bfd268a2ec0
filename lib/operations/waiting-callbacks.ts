/**
 * How many callbacks of one payment may wait for its outcome at once: far more than a bank that posts twice, several
 * tabs and an impatient buyer need.
 */
export const MAX_WAITING_CALLBACKS = 50;

/** A callback's permission to wait. */
export interface WaitingPlace {
  /**
   * Takes a place, unless this callback has one already.
   * @returns false when all places are taken
   */
  take(): boolean;
  /** Gives the place back; {@link take} takes none from then on. */
  leave(): void;
}

/**
 * Limits the callbacks that wait in this process, for each payment. Anyone who has the token can post a thousand
 * callbacks while Auth3d is slow, and each waiting callback costs a connection, memory and queries to the store.
 */
export class WaitingCallbacks {
  private readonly counts = new Map<string, number>();

  /** A place for one callback, not yet taken. */
  placeFor(conversationId: string): WaitingPlace {
    let isTaken = false;
    let hasLeft = false;
    return {
      take: () => {
        const count = this.counts.get(conversationId) ?? 0;
        if (isTaken || hasLeft || count >= MAX_WAITING_CALLBACKS) return isTaken;
        isTaken = true;
        this.counts.set(conversationId, count + 1);
        return true;
      },
      leave: () => {
        hasLeft = true;
        if (!isTaken) return;
        isTaken = false;
        const left = (this.counts.get(conversationId) ?? 1) - 1;
        if (left > 0) this.counts.set(conversationId, left);
        else this.counts.delete(conversationId);
      },
    };
  }
}

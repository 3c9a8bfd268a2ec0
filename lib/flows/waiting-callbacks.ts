/**
 * How many callbacks of one payment wait for its outcome at once. A bank that posts twice, several tabs and an
 * impatient buyer stay far below it.
 */
export const MAX_WAITING_CALLBACKS = 50;

/** A callback's right to wait. */
export interface WaitingPlace {
  /** Takes a place, unless this callback has one already. @returns false where as many wait as may */
  take(): boolean;
  /** It waits no more, and takes no place any more. */
  leave(): void;
}

/**
 * Counts the callbacks that wait in this process, by payment. Whoever has the token can post a thousand while Auth3d is
 * slow, and each that waits holds a connection, its memory and looks at the store.
 */
export class WaitingCallbacks {
  private readonly counts = new Map<string, number>();

  /** A place for one callback, which is not taken yet. */
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

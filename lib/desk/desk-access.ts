import type { ExecutionContext } from '@nestjs/common';

/**
 * What a member of staff may do.
 *
 * - `look`: see every page; each other right needs this one, too.
 * - `ask`: ask the gateway (`inquire`, `inquireRefund`).
 * - `settle`: settle by hand (`resolve`, `resolveRefund`), and give an open payment page up (`abandon`).
 * - `refund`: give money back (`refund`, `void`), and write down what was given back elsewhere (`recordRefund`).
 * - `replay`: have an event delivered again.
 */
export type DeskRight = 'look' | 'ask' | 'settle' | 'refund' | 'replay';

/** Who uses the desk. */
export interface DeskStaff {
  /**
   * Kept in the history of what they change, and shown, by the rule for notes: what may be a key or a card number
   * becomes asterisks. A user id does, and a word of 16 letters with a digit in it. At most 200 characters.
   */
  readonly name: string;
  readonly rights: readonly DeskRight[];
  /** The accounts that they see, by name; all of them if this is absent. The unnamed account is `default`. */
  readonly accounts?: readonly string[];
}

/** What a member of staff is about to do. */
export interface DeskAct {
  /** The name that `staffOf` gave, as the history keeps it. */
  readonly staff: string;
  /** The method of `PaymentOperations`. */
  readonly act: string;
  readonly account: string;
  readonly conversationId: string;
  /** What the method is given: amount, state, note, refundId, handlerId, eventId. */
  readonly details: Readonly<Record<string, string>>;
}

/** The host's word on who may use the desk. It is injected: an `@Injectable()` class that extends this one. */
export abstract class DeskAccess {
  /** Who is asking; null refuses (403). */
  abstract staffOf(context: ExecutionContext): DeskStaff | null | Promise<DeskStaff | null>;

  /** Awaited before each act. If it throws, nothing is done. */
  record?(act: DeskAct): void | Promise<void>;
}

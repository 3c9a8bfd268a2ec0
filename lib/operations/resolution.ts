import { Injectable } from '@nestjs/common';
import { PaymentValidationError } from '../errors/payment-errors.js';
import { keptNote } from '../payment/kept-text.js';
import { isRefund, type Payment, type PaymentRecord, toPayment } from '../payment/payment.js';
import { isClaimed, factsOf } from '../payment/states.js';
import { isOpenRefund, type Refund, toRefund } from '../payment/refund.js';
import { advance } from '../payment/transitions.js';
import { PaymentReader, RefundReader, stateError } from '../settlement/records.js';
import { toBeAskedLate } from '../settlement/outcomes.js';
import { PaymentWriter } from '../settlement/writer.js';
import { StoreClock } from '../settlement/store-clock.js';

export const MAX_NOTE_LENGTH = 1_000;
export const MAX_NAME_LENGTH = 200;
/**
 * The process that claimed a payment may only have been suspended, and may still send, for this long after the claim.
 */
const INTERRUPTED_MS = 3_600_000;

/** Options of `resolve` and `resolveRefund`. */
export interface ResolveOptions {
  /**
   * Who resolves it: a name, an address, a user id. Kept in the payment's history, up to 200 characters; if it
   * holds a long number, such as a card's, its digits become asterisks.
   */
  readonly by?: string;
  /**
   * Needed to resolve an `interrupted` payment as `failed` within an hour of its claim: the process that claimed it may
   * only have been suspended, and may still send.
   */
  readonly force?: boolean;
}

/** Lets an operator settle a payment or refund by hand. */
@Injectable()
export class Resolutions {
  constructor(
    private readonly payments: PaymentReader,
    private readonly refunds: RefundReader,
    private readonly writer: PaymentWriter,
    private readonly clock: StoreClock,
  ) {}

  /** @param given the arguments as passed in, unchecked: callers in plain JavaScript have no types */
  async resolve(...given: readonly unknown[]): Promise<Payment> {
    return toPayment(await this.settle(this.payments, given));
  }

  /** @param given as for {@link resolve} */
  async resolveRefund(...given: readonly unknown[]): Promise<Refund> {
    return toRefund(await this.settle(this.refunds, given));
  }

  private async settle(reader: PaymentReader, given: readonly unknown[]): Promise<PaymentRecord> {
    const resolution = checkedResolution(given);
    for (;;) {
      const record = await reader.get(resolution.id);
      if (resolution.state === 'failed' && !isRefund(record) && (await this.isGivenBack(record))) {
        throw stateError(record, 'be resolved as failed: money of it was given back');
      }
      const { resolved, refusal } = await this.decide(reader, record, resolution);
      if (resolved) return resolved;
      const latest = await reader.latest(record);
      // A refund that begins raises the version of a payment in review, so its refunds have to be looked up again.
      if (latest.version === record.version || latest.state !== record.state) throw stateError(latest, refusal);
    }
  }

  /** Whether a refund has given money of this payment back, or may have. */
  private async isGivenBack({ conversationId }: PaymentRecord): Promise<boolean> {
    const refunds = await this.refunds.ofPayment(conversationId);
    return refunds.some((refund) => refund.state === 'succeeded' || isOpenRefund(refund));
  }

  private async decide(
    reader: PaymentReader,
    record: PaymentRecord,
    { state, note, by, force }: Resolution,
  ): Promise<{ resolved: PaymentRecord | null; refusal: string }> {
    const claimedAt = state === 'failed' && !force ? await this.claimOf(reader, record) : null;
    // The hour since the claim is measured by the store's time: this host's clock may just have been set.
    if (claimedAt) await this.clock.check();
    const change = {
      reason: 'operator',
      note: keptNote(note, MAX_NOTE_LENGTH),
      by: by === null ? null : keptNote(by, MAX_NAME_LENGTH),
    } as const;
    let refusal = `be resolved as ${state}`;
    const resolved = await this.writer.decide(record, (current, now) => {
      // A payment that has changed may have refunds by now that were not looked up.
      const isOutdated = reader === this.payments && current.version !== record.version;
      if (isOutdated || !factsOf(current.state).to[state]?.includes('operator')) return null;
      const isFresh = claimedAt !== null && now.getTime() - claimedAt.getTime() < INTERRUPTED_MS;
      if (isFresh && current.reason === 'interrupted') {
        refusal = MAY_BE_SENT;
        return null;
      }
      // A gateway may go on approving what was reversed at the bank, which is what ends a review as failed.
      const isInDoubt = current.state === 'unknown' && state === 'failed';
      return advance(current, state, { ...change, ...(isInDoubt && toBeAskedLate(now)) }, now);
    });
    return { resolved, refusal };
  }

  /** When the claim was taken under which the request was, or may still be, sent. */
  private async claimOf(reader: PaymentReader, record: PaymentRecord): Promise<Date> {
    const history = await reader.history(record.conversationId);
    const claim = history.findLast(({ state }) => isClaimed(state));
    return claim?.at ?? record.updatedAt;
  }
}

const MAY_BE_SENT =
  'be resolved as failed within an hour of its claim: it was interrupted, and a host that was only suspended may still ' +
  'send it. Make sure that the process that took it has ended (or wait until the hour is over), then resolve it with ' +
  'force';

interface Resolution {
  /** A conversationId or refundId. */
  readonly id: string;
  readonly state: 'succeeded' | 'failed';
  readonly note: string;
  readonly by: string | null;
  readonly force: boolean;
}

/** @throws PaymentValidationError */
function checkedResolution([id, state, note, options = {}, ...surplus]: readonly unknown[]): Resolution {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  const { by, force, ...unknown } = (isObject ? options : {}) as Readonly<Record<string, unknown>>;
  const isForceGood = force === undefined || typeof force === 'boolean';
  const checks: readonly (readonly [isGood: boolean, path: string, rule: string, message: string])[] = [
    [state === 'succeeded' || state === 'failed', 'state', 'isIn', 'must be succeeded or failed'],
    [isFilled(note), 'note', 'isNotEmpty', 'must say how it was found out'],
    [surplus.length === 0, 'arguments', 'maxLength', 'must be four at most: by and force are options'],
    [isObject, 'options', 'isObject', 'must be an object, such as { by: "ada@shop.example" }'],
    [by === undefined || isFilled(by), 'options.by', 'isNotEmpty', 'must be a text that says who, or left out'],
    [isForceGood, 'options.force', 'isBoolean', 'must be true, false, or left out'],
    [Object.keys(unknown).length === 0, 'options', 'whitelist', 'may hold by and force, and nothing else'],
  ];
  const problems = checks.flatMap(([isGood, path, rule, message]) => (isGood ? [] : [{ path, rule, message }]));
  if (problems.length > 0) throw new PaymentValidationError(problems);
  return {
    id: id as string,
    state: state as Resolution['state'],
    note: note as string,
    by: (by as string | undefined) ?? null,
    force: force === true,
  };
}

/** Whether it is a text that is not blank. */
export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

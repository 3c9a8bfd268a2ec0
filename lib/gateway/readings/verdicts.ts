import type { PaymentReason } from '../../payment/payment.js';
import type { GatewayResult } from '../gateway-dialect.js';

/**
 * What this module believes of the gateway's answers: facts in, verdict out, and the first row that fits decides. A
 * fact that a row does not name may be any. Source: docs/interface.md shows an approval alone; all else is unverified,
 * and chosen so that a wrong guess leaves an order waiting, never charged twice or shipped unpaid.
 */

const APPROVING = ['approved', 'variant', 'disagree'] as const;
const DOUBTFUL = ['indeterminate', 'unreadable', 'unheard'] as const;
/** In an inquiry, these say that nothing was paid. */
const UNPAID = ['card', 'unpaid', 'not_found'] as const;
const REFUSALS = ['refused', 'invalid', 'client'] as const;

/** What an answer can show, and what is known of its request: every value that a fact can have. */
export const FACTS = {
  /** `none`: the deadline, a lost connection. `unreadable`: too long, or the dialect threw while it read. */
  reply: ['none', 'unreadable', 'read'],
  /**
   * `refused`: 401, 404, 405, 413, 415, 429. `invalid`: 400, 403. `undecided`: 408, 409, 1xx, 3xx. `client`: other 4xx.
   */
  http: ['2xx', ...REFUSALS, 'undecided', 'server'],
  /**
   * `variant`: a partial or conditional approval. `disagree`: of two codes, one approves. `card`: the card was
   * declined. `unpaid`, `not_found`: lists for inquiries. `unheard`: in no list. `unreadable`: no single text.
   */
  code: [...APPROVING, ...DOUBTFUL, 'declined', ...UNPAID, 'none'],
  /** The conversationId. */
  id: ['ours', 'absent', 'foreign'],
  /** `fits`: ours, or not shown. */
  currency: ['fits', 'other'],
  amount: ['fits', 'other'],
  /** `fits`: right, or not checked. */
  sign: ['fits', 'bad'],
  /** Whether our id and our amount are shown. */
  names: ['both', 'one', 'neither'],
  /** Whether an approval has to name the payment, since a browser had its hands in the request. */
  mustName: [true, false],
  /** Whether the dialect can ask for the outcome later. */
  canAsk: [true, false],
  /** What an inquiry asks about: a sale, a sale at the gateway's own page, or a refund. */
  about: ['sale', 'page', 'refund'],
  /** The type of the transaction. `refund`: a void, too. `other`: any other, or one that cannot be read. */
  type: ['sale', 'refund', 'absent', 'other'],
  /** The status beside the code. `other`: it does not say success. `unreadable`: no single text, or an unknown word. */
  status: ['success', 'unpaid', 'unreadable', 'other', 'none'],
  /** The text beside the code. */
  text: ['approved', 'other', 'none'],
} as const;

type AllFacts = { readonly [Name in keyof typeof FACTS]: (typeof FACTS)[Name][number] };
export type ChargeFacts = Pick<
  AllFacts,
  'reply' | 'http' | 'code' | 'id' | 'currency' | 'amount' | 'sign' | 'names' | 'mustName' | 'canAsk'
>;
export type InquiryFacts = Pick<
  AllFacts,
  'reply' | 'http' | 'code' | 'id' | 'currency' | 'amount' | 'about' | 'type' | 'status' | 'text'
>;
export type OpeningFacts = Pick<AllFacts, 'reply' | 'http' | 'code' | 'id'>;

export type ChargeVerdict = readonly ['succeeded', null] | readonly ['failed' | 'unknown' | 'review', PaymentReason];

/**
 * What an inquiry says. `approval`: it approves, but may mean only that the inquiry itself succeeded. `unclear`:
 * nothing that settles. `unanswered`: no answer, or an error of the gateway's own.
 */
export type InquiryVerdict =
  | readonly ['paid' | 'approval' | 'declined' | 'not_found' | 'unpaid' | 'unclear' | 'unanswered']
  | readonly ['mismatch', PaymentReason];

/** Why there is nothing to show to the buyer; null: the answer may have it. */
export type OpeningVerdict = PaymentReason | null;

/** Facts that a row asks for; a list of values means one of them. */
type When<Facts> = { readonly [Name in keyof Facts]?: Facts[Name] | readonly Facts[Name][] };
/** Rows, the last of which fits whatever is left: without it, a table does not compile. */
export type Table<Facts, Verdict> = readonly [
  ...(readonly [when: When<Facts>, verdict: Verdict])[],
  readonly [rest: Readonly<Record<string, never>>, verdict: Verdict],
];

/** The answer to DoPayment, Auth3d, a refund or a void. */
export const CHARGE: Table<ChargeFacts, ChargeVerdict> = [
  [{ reply: 'none' }, ['unknown', 'no_answer']],
  [{ reply: 'unreadable' }, ['unknown', 'unreadable']],
  [{ http: '2xx', code: APPROVING, id: 'foreign' }, ['review', 'conversation_mismatch']],
  [{ id: 'foreign', canAsk: true }, ['unknown', 'conversation_mismatch']],
  [{ id: 'foreign' }, ['review', 'conversation_mismatch']],
  [{ http: '2xx', code: 'disagree' }, ['review', 'codes_disagree']],
  [{ http: '2xx', code: 'variant' }, ['review', 'approval_variant']],
  [{ http: '2xx', code: 'approved', currency: 'other' }, ['review', 'currency_mismatch']],
  [{ http: '2xx', code: 'approved', amount: 'other' }, ['review', 'amount_mismatch']],
  [{ http: '2xx', code: 'approved', sign: 'bad' }, ['review', 'sign_mismatch']],
  [{ http: '2xx', code: 'approved', names: 'both' }, ['succeeded', null]],
  [{ http: '2xx', code: 'approved', mustName: false }, ['succeeded', null]],
  [{ http: '2xx', code: 'approved', canAsk: true }, ['unknown', 'unbound']],
  [{ http: '2xx', code: 'approved' }, ['review', 'unbound']],
  [{ http: '2xx', code: ['card', 'declined'] }, ['failed', 'declined']],
  [{ http: '2xx', code: 'indeterminate' }, ['unknown', 'indeterminate_code']],
  [{ http: '2xx', code: ['unheard', 'unpaid', 'not_found'] }, ['unknown', 'unrecognised_code']],
  [{ http: '2xx' }, ['unknown', 'unreadable']],
  [{ code: [...APPROVING, 'indeterminate', 'unreadable'] }, ['unknown', 'indeterminate_code']],
  [{ http: 'refused' }, ['failed', 'refused']],
  [{ http: 'invalid', code: ['card', 'declined', 'unheard', 'unpaid', 'not_found'] }, ['failed', 'refused']],
  [{ http: 'client', code: ['card', 'declined'] }, ['failed', 'refused']],
  [{}, ['unknown', 'server_error']],
];

/** The answer to CheckPayment. Which words settle a payment depends on what it is: see the settlement. */
export const INQUIRY: Table<InquiryFacts, InquiryVerdict> = [
  [{ reply: 'none' }, ['unanswered']],
  [{ http: ['server', 'undecided'] }, ['unanswered']],
  [{ reply: 'unreadable' }, ['unclear']],
  [{ id: 'foreign' }, ['unclear']],
  // A status or a text that says success, or may say it, contradicts a code that says that nothing was paid.
  [{ code: UNPAID, status: ['success', 'unreadable'] }, ['unclear']],
  [{ code: UNPAID, text: 'approved', status: 'none' }, ['unclear']],
  [{ http: REFUSALS, code: ['unpaid', 'not_found'], about: ['sale', 'page'] }, ['unpaid']],
  [{ http: REFUSALS, code: ['none', 'unreadable'] }, ['unanswered']],
  [{ http: REFUSALS }, ['unclear']],
  // A gateway that does not know refunds might answer about the sale; and a void says nothing about its sale.
  [{ about: 'refund', type: ['sale', 'absent', 'other'] }, ['unclear']],
  [{ about: ['sale', 'page'], type: ['refund', 'other'] }, ['unclear']],
  [{ about: 'refund', code: ['variant', 'disagree', 'declined', ...UNPAID, 'unheard'] }, ['unclear']],
  [{ code: 'card' }, ['declined']],
  [{ code: 'not_found' }, ['not_found']],
  [{ code: ['indeterminate', 'unreadable', 'none'] }, ['unclear']],
  [{ code: 'variant' }, ['mismatch', 'approval_variant']],
  [{ status: 'unpaid' }, ['unpaid']],
  [{ code: 'unpaid' }, ['unpaid']],
  [{ code: ['declined', 'unheard'] }, ['unclear']],
  [{ code: 'disagree', about: 'page' }, ['approval']],
  [{ code: 'disagree' }, ['unclear']],
  // The code may mean only that the inquiry itself succeeded: the answer has to say that it was paid, not just echo it.
  [{ status: ['other', 'unreadable'] }, ['approval']],
  [{ text: 'other' }, ['approval']],
  [{ text: 'none', status: 'none' }, ['approval']],
  [{ currency: 'other' }, ['mismatch', 'currency_mismatch']],
  [{ amount: 'other' }, ['mismatch', 'amount_mismatch']],
  [{}, ['paid']],
];

/** The answer to Init3d, to a request for the gateway's own page, or to CheckBin. */
export const OPENING: Table<OpeningFacts, OpeningVerdict> = [
  [{ reply: 'none' }, 'no_answer'],
  [{ reply: 'unreadable' }, 'unreadable'],
  [{ http: 'server' }, 'server_error'],
  [{ http: [...REFUSALS, 'undecided'] }, 'refused'],
  [{ code: ['card', 'declined'] }, 'declined'],
  // The answer may be without a code: the vendor's plugin looks at the page alone.
  [{ code: ['variant', 'disagree', ...DOUBTFUL, 'unpaid', 'not_found'] }, 'unrecognised_code'],
  [{ id: 'foreign' }, 'conversation_mismatch'],
  [{}, null],
];

export function judge<Facts, Verdict>(table: Table<Facts, Verdict>, facts: Facts): Verdict {
  const row = table.find(([when]) => fits(when as When<Facts>, facts));
  // The last row asks for nothing.
  return row![1];
}

function fits<Facts>(when: When<Facts>, facts: Facts): boolean {
  for (const name in when) {
    const wanted: unknown = when[name];
    if (Array.isArray(wanted) ? !wanted.includes(facts[name]) : wanted !== facts[name]) return false;
  }
  return true;
}

/** The outcome of a DoPayment, an Auth3d, a refund or a void that may have been sent. */
export interface ChargeOutcome {
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'review';
  readonly reason: PaymentReason | null;
  /** What is kept of the answer; null if no answer could be read. */
  readonly result: GatewayResult | null;
  /** True for a decline that leaves no doubt: the card's own, by a code for that. */
  readonly isPlain?: true;
}

/** What the answer to a CheckPayment says, in the words of the table of inquiries. */
export type InquiryOutcome =
  /** `isBound`: it shows our id or our amount. If not, it cannot confirm an approval that names no payment. */
  | { readonly outcome: 'paid'; readonly isBound: boolean; readonly charge: ChargeOutcome }
  | { readonly outcome: 'declined' | 'mismatch' | 'approval'; readonly charge: ChargeOutcome }
  | { readonly outcome: 'not_found' | 'unpaid' | 'unclear' | 'unanswered' };

/** What an answer shows, and what is kept of it. */
interface Judged<Facts> {
  readonly facts: Facts;
  readonly result: GatewayResult | null;
}

/** Decides the outcome of a request that may have been sent and that moves money. */
export function chargeOutcome(
  { facts, result }: Judged<Omit<ChargeFacts, 'mustName' | 'canAsk'>>,
  request: Pick<ChargeFacts, 'mustName' | 'canAsk'>,
): ChargeOutcome {
  const [state, reason] = judge(CHARGE, { ...facts, ...request });
  const isPlain = state === 'failed' && facts.http === '2xx' && facts.code === 'card';
  return { state, reason, result, ...(isPlain && { isPlain }) };
}

/** Decides what the answer to a CheckPayment says. */
export function inquiryOutcome(
  { facts, result }: Judged<Omit<InquiryFacts, 'about'> & Pick<ChargeFacts, 'names'>>,
  about: InquiryFacts['about'],
): InquiryOutcome {
  const [word, reason = null] = judge(INQUIRY, { ...facts, about });
  switch (word) {
    case 'paid': {
      const isBound = facts.names !== 'neither';
      return { outcome: word, isBound, charge: { state: 'succeeded', reason: null, result } };
    }
    case 'mismatch':
      return { outcome: word, charge: { state: 'review', reason, result } };
    case 'approval':
      return { outcome: word, charge: { state: 'review', reason: 'moved_after_all', result } };
    case 'declined':
      return { outcome: word, charge: { state: 'failed', reason: word, result, isPlain: true } };
    default:
      return { outcome: word };
  }
}

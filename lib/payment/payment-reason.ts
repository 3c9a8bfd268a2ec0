/**
 * Why a payment is in its state.
 *
 * - `declined`: the issuer or the gateway declined; `code` and `message` say how.
 * - `refused`: the gateway refused the request itself (wrong credentials, bad field, rate limit).
 * - `not_sent`: proven that nothing left; safe to try again.
 * - `no_answer`: sent, but no readable answer came.
 * - `unreadable`: an answer came that could not be read as one.
 * - `server_error`: the gateway answered with an HTTP status that does not say whether money moved.
 * - `indeterminate_code`: a code that does not say whether money moved.
 * - `unrecognised_code`: a code that no list knows.
 * - `approval_variant`: a partial or conditional approval.
 * - `codes_disagree`, `conversation_mismatch`, `amount_mismatch`, `currency_mismatch`, `sign_mismatch`: an approval
 *   that contradicts the request or itself.
 * - `unbound`: Auth3d was approved, but the answer does not name this payment (its conversationId and amount), so that it
 *   may be about another one; what the payment shows of the answer may be another's, too. The gateway is asked where it
 *   can be.
 * - `reference_taken`: another payment of the same reference holds it; nothing was sent. The order may well be paid by
 *   that one: look before cancelling it.
 * - `vetoed`: `beforeAuth3d` said no; nothing was sent.
 * - `interrupted`: the process that was charging died; the gateway will be asked.
 * - `moved_after_all`: recorded as failed or expired, but the gateway showed that money moved.
 * - `not_found`: the gateway said twice that it does not know this payment.
 * - `operator`: settled by `resolve`.
 */
export type PaymentReason =
  | 'declined'
  | 'refused'
  | 'not_sent'
  | 'no_answer'
  | 'unreadable'
  | 'server_error'
  | 'indeterminate_code'
  | 'unrecognised_code'
  | 'approval_variant'
  | 'codes_disagree'
  | 'conversation_mismatch'
  | 'amount_mismatch'
  | 'currency_mismatch'
  | 'sign_mismatch'
  | 'unbound'
  | 'reference_taken'
  | 'vetoed'
  | 'interrupted'
  | 'moved_after_all'
  | 'not_found'
  | 'operator';

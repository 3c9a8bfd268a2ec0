/**
 * The code that money and secrets hang on, part by part, and the fast tests that must notice each change of a file: the
 * beginnings of their paths below `test`.
 *
 * @type {readonly { part: string, files: Readonly<Record<string, readonly string[]>> }[]}
 */
export const TARGETS = [
  {
    part: 'States',
    files: { 'lib/payment/states.ts': ['payment/states', 'flows/settlement'] },
  },
  {
    part: 'Settlement',
    files: {
      'lib/flows/settlement.ts': ['flows/settlement'],
      'lib/flows/result-changes.ts': ['flows/result-changes'],
      'lib/payment/amount.ts': ['payment/amount'],
    },
  },
  {
    part: 'Replies',
    files: {
      'lib/gateway/readings/charge-outcome.ts': ['gateway/readings/charge-outcome'],
      'lib/gateway/readings/init3d-outcome.ts': ['gateway/readings/init3d-outcome'],
      'lib/gateway/readings/inquiry-outcome.ts': ['gateway/readings/inquiry-outcome'],
      'lib/gateway/readings/reply-fields.ts': ['gateway/readings/reply-fields'],
      'lib/gateway/readings/result-checks.ts': ['gateway/readings/'],
    },
  },
  {
    part: 'Sign',
    files: { 'lib/gateway/dialects/morpos.dialect.ts': ['gateway/dialects/', 'gateway/readings/inquiry-outcome'] },
  },
  {
    part: 'Masking',
    files: {
      'lib/payment/card-mask.ts': ['payment/card-mask', 'payment/plain-text'],
      'lib/payment/decodings.ts': ['payment/decodings', 'payment/card-mask', 'payment/plain-text'],
      'lib/payment/digit-runs.ts': ['payment/digit-runs', 'payment/plain-text'],
      'lib/payment/hidden.ts': ['payment/hidden'],
      'lib/payment/plain-text.ts': ['payment/plain-text'],
    },
  },
  {
    part: 'Redaction',
    files: { 'lib/gateway/redaction.ts': ['gateway/redaction'] },
  },
  {
    part: 'Callbacks',
    files: {
      'lib/callback/callback-request.ts': ['callback/callback-request'],
      'lib/flows/callback-check.ts': ['flows/callback-check'],
      'lib/flows/callback-fields.ts': ['flows/callback-fields'],
      'lib/flows/callback-token.ts': ['flows/callback-token'],
    },
  },
];

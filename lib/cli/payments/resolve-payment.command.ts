import { userInfo } from 'node:os';
import { command } from '../command.js';
import { STORE_OPTIONS } from '../common-options.js';
import { UsageError } from '../usage.error.js';
import { withAccountStore } from './account-store.js';
import { resolvePayment } from './operator-flows.js';
import { paymentJson } from './payment-text.js';

export const resolvePaymentCommand = command({
  name: 'payments resolve',
  summary: 'Settles an unknown payment, or one in review, by what the gateway or the bank shows.',
  words: ['CONVERSATION_ID', 'succeeded|failed'],
  options: {
    note: { type: 'string', value: 'TEXT', about: 'How it was found out; kept in the history. Required.' },
    by: { type: 'string', value: 'NAME', about: 'Who resolves it; kept in the history. Default: your user name here.' },
    force: { type: 'boolean', about: 'Resolves as failed though it was interrupted within the last hour.' },
    ...STORE_OPTIONS,
  },
  notes:
    'A payment that was interrupted may still be sent by a host that was only suspended. Before --force, make sure that\n' +
    'the process that took it has ended.',
  run(call) {
    const [conversationId = '', state] = call.words;
    const { note, by = userName(), force = false } = call.values;
    if (state !== 'succeeded' && state !== 'failed') {
      throw new UsageError('"payments resolve" takes a conversationId, then succeeded or failed.');
    }
    if (!note?.trim()) throw new UsageError('"payments resolve" needs --note: how it was found out.');
    if (by?.trim() === '') throw new UsageError('"payments resolve" takes --by with a name.');
    return withAccountStore(call, async (opened) => {
      const payment = await resolvePayment(opened, conversationId, state, note, { by, force });
      return { text: `Payment ${conversationId} is ${payment.state}.`, json: { payment: paymentJson(payment) } };
    });
  },
});

/** Of the operating system; a user without an entry there, as in some containers, has none. */
function userName(): string | undefined {
  try {
    return userInfo().username || undefined;
  } catch {
    return undefined;
  }
}

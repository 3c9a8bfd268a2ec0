import { command } from '../command.js';
import { STORE_OPTIONS } from '../common-options.js';
import { UsageError } from '../usage.error.js';
import { withAccountStore } from './account-store.js';
import { resolvePayment } from './operator-flows.js';

export const resolvePaymentCommand = command({
  name: 'payments resolve',
  summary: 'Settles an unknown payment, or one in review, by what the gateway or the bank shows.',
  words: ['CONVERSATION_ID', 'succeeded|failed'],
  options: {
    note: { type: 'string', value: 'TEXT', about: 'Who found out, and how; kept in the history. Required.' },
    ...STORE_OPTIONS,
  },
  run(call) {
    const [conversationId = '', state] = call.words;
    const { note } = call.values;
    if (state !== 'succeeded' && state !== 'failed') {
      throw new UsageError('"payments resolve" takes a conversationId, then succeeded or failed.');
    }
    if (!note?.trim()) throw new UsageError('"payments resolve" needs --note: who found out, and how.');
    return withAccountStore(call, async (opened) => {
      const payment = await resolvePayment(opened, conversationId, state, note);
      return { text: `Payment ${conversationId} is ${payment.state}.`, json: { payment } };
    });
  },
});

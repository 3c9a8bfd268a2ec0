import { type PaymentHistoryEntry, toPayment } from '../../payment/payment.js';
import { command } from '../command.js';
import { CommandFailedError } from '../command-failed.error.js';
import { STORE_OPTIONS } from '../common-options.js';
import { withAccountStore } from './account-store.js';
import { paymentFacts, paymentJson } from './payment-text.js';

export const showPaymentCommand = command({
  name: 'payments show',
  summary: 'Shows one payment and its history.',
  words: ['CONVERSATION_ID'],
  options: STORE_OPTIONS,
  run(call) {
    const [conversationId = ''] = call.words;
    return withAccountStore(call, async ({ store, account }) => {
      const record = await store.find(account, conversationId);
      if (!record) {
        throw new CommandFailedError(`There is no payment ${conversationId} in the account "${account}".`);
      }
      const payment = toPayment(record);
      const history = await store.history(account, conversationId);
      const text = [`Payment ${conversationId}`, paymentFacts(payment), 'History', ...history.map(historyLine)];
      return { text: text.join('\n'), json: { payment: paymentJson(payment), history } };
    });
  },
});

function historyLine({ at, version, state, reason, code, note, by }: PaymentHistoryEntry): string {
  return [
    `  ${at.toISOString()}  v${version}  ${state.padEnd(12)}`,
    reason,
    code,
    note && `“${note}”`,
    by && `by ${by}`,
  ]
    .filter(Boolean)
    .join('  ');
}

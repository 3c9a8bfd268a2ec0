import { resolveSettings } from '../../options/resolve-settings.js';
import type { Environment } from '../../options/read-options.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { DEFAULT_ACCOUNT, variableOf } from '../../payment/account.js';
import { rowOf } from '../../payment/payment-state.js';
import { command } from '../command.js';
import { STORE_OPTIONS } from '../common-options.js';
import { UsageError } from '../usage.error.js';
import { withAccountStore } from './account-store.js';
import { inquirePayment } from './operator-flows.js';
import { paymentJson } from './payment-text.js';

export const inquirePaymentCommand = command({
  name: 'payments inquire',
  summary: 'Asks the gateway what became of a payment, and settles it by the answer. Moves no money.',
  words: ['CONVERSATION_ID'],
  options: STORE_OPTIONS,
  notes:
    "It reads the application's settings from the environment; what the application sets in code alone is not known\n" +
    'here. Where the gateway says nothing clear, the payment stays as it is, and the exit status is 1.',
  run(call) {
    const [conversationId = ''] = call.words;
    return withAccountStore(call, async (opened) => {
      const settings = settingsOf(call.values, call.environment);
      const payment = await inquirePayment(opened, settings, conversationId);
      const { state } = payment;
      const isKnown = !['inquire', 'interrupt'].includes(rowOf(state).whenDue);
      const unclear = `Payment ${conversationId} is ${state} still: the gateway gave no clear answer, or none.`;
      return {
        text: isKnown ? `Payment ${conversationId} is ${state}.` : unclear,
        json: { payment: paymentJson(payment) },
        status: isKnown ? 0 : 1,
      };
    });
  },
});

/** @throws UsageError, PaymentConfigurationError */
function settingsOf(
  { account = DEFAULT_ACCOUNT, store }: { readonly account?: string; readonly store?: string },
  environment: Environment,
): PaymentSettings {
  const dialect = variableOf(account, 'dialect');
  const baseUrl = variableOf(account, 'baseUrl');
  if ((environment[dialect] || 'standard') === 'standard') {
    throw new UsageError(
      `The dialect "standard" (${dialect}) cannot ask what became of a payment: the contract shows no such operation. ` +
        'Look it up in the panel of the gateway, then use "payments resolve".',
    );
  }
  if (environment[baseUrl]?.startsWith('simulator:')) {
    throw new UsageError(`${baseUrl} is the embedded simulator, which only the application's own process can ask.`);
  }
  const name = account === DEFAULT_ACCOUNT ? undefined : account;
  return resolveSettings({ background: false, storeUrl: store }, { name, callback: false }, environment);
}

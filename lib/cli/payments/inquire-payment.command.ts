import { resolveSettings } from '../../options/resolve-settings.js';
import type { Environment } from '../../options/read-options.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { isSimulatorMeant } from '../../options/simulator-setting.js';
import { isLoopbackUrl } from '../../options/url-checks.js';
import { DEFAULT_ACCOUNT, variableOf } from '../../payment/account.js';
import { isClaimed } from '../../payment/payment-state.js';
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
    refuseEmbeddedSimulator(call.environment, call.values.account);
    return withAccountStore(call, async (opened) => {
      const settings = settingsOf(call.values, call.environment);
      const payment = await inquirePayment(opened, settings, conversationId);
      const { state } = payment;
      const isKnown = state !== 'unknown' && !isClaimed(state);
      const unclear = `Payment ${conversationId} is ${state} still: the gateway gave no clear answer, or none.${simulatorNote(settings)}`;
      return {
        text: isKnown ? `Payment ${conversationId} is ${state}.` : unclear,
        json: { payment: paymentJson(payment) },
        status: isKnown ? 0 : 1,
      };
    });
  },
});

/** @throws UsageError */
function refuseEmbeddedSimulator(environment: Environment, account = DEFAULT_ACCOUNT): void {
  if (!isSimulatorMeant({}, environment, account)) return;
  throw new UsageError(
    `${variableOf(account, 'baseUrl')} is the embedded simulator, inside the application, which only the application itself can ` +
      'ask: call PaymentService.inquire there; or run "nestjs-card-payment simulate" and use what it prints.',
  );
}

/** A gateway on this machine is a simulator, which keeps nothing. */
function simulatorNote({ account, baseUrl }: PaymentSettings): string {
  if (!isLoopbackUrl(baseUrl)) return '';
  const variable = variableOf(account, 'baseUrl');
  return ` It is on this machine (${variable}): a simulator that is not running, or was started anew, knows no payment.`;
}

/** @throws UsageError, PaymentConfigurationError */
function settingsOf(
  { account = DEFAULT_ACCOUNT, store }: { readonly account?: string; readonly store?: string },
  environment: Environment,
): PaymentSettings {
  const dialect = variableOf(account, 'dialect');
  if ((environment[dialect] || 'standard') === 'standard') {
    throw new UsageError(
      `The dialect "standard" (${dialect}) cannot ask what became of a payment: the contract shows no such operation. ` +
        'Look it up in the panel of the gateway, then use "payments resolve".',
    );
  }
  const name = account === DEFAULT_ACCOUNT ? undefined : account;
  return resolveSettings({ background: false, storeUrl: store }, { name, callback: false }, environment);
}

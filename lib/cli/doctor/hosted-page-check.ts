import { GatewayClient, type HostedAttempt } from '../../gateway/gateway-client.js';
import { GatewayTransport } from '../../gateway/transport/gateway-transport.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { SystemClock } from '../../payment/clock.js';
import { callbackAddress } from './callback-check.js';
import { type DoctorTarget, failed, type Finding, isEmbeddedSimulator, ok, skipped } from './doctor-check.js';

const UNVERIFIED = '(unverified)';
/** Lira: the gateway may refuse an amount of less than one. */
const SALE = {
  paymentInstrumentType: 'CARD',
  transactionType: 'SALE',
  installmentCount: 1,
  amount: '1.00',
  currencyCode: 949,
} as const;

interface Wish {
  readonly isGatewayReached: boolean;
  /** Whether a page may be opened. */
  readonly mayOpen: boolean;
}

/**
 * Checks that the account may use the gateway's own pages. No other request is known to need the same scope, so a page
 * is opened, whose address is shown to nobody: no money can move, and the gateway closes it at its end.
 */
export async function checkHostedPage(
  target: DoctorTarget,
  settings: PaymentSettings | null,
  { isGatewayReached, mayOpen }: Wish,
): Promise<Finding | readonly []> {
  const isEmbedded = isEmbeddedSimulator(target);
  if (!mayOpen && (isEmbedded || !settings?.dialect.operations.hostedPage)) return [];
  if (!mayOpen) {
    const message = "not checked whether the account has the gateway's own pages";
    return skipped('hosted', message, 'For PaymentService.startHosted: doctor --hosted opens one, shown to nobody.');
  }
  if (settings === null) return skipped('hosted', 'not tried: settings are wrong or missing');
  if (isEmbedded) return skipped('hosted', 'not tried: the simulator inside the application has such pages');
  if (!settings.dialect.operations.hostedPage) {
    return skipped('hosted', `not tried: the dialect "${settings.dialect.name}" has no such pages`);
  }
  if (!isGatewayReached) return skipped('hosted', 'not tried: the gateway cannot be reached');
  return judge(await open(target, settings), target);
}

async function open(target: DoctorTarget, settings: PaymentSettings): Promise<HostedAttempt> {
  const { limitMs } = target;
  const transport = new GatewayTransport({ timeoutMs: limitMs, connectTimeoutMs: limitMs, keepAliveMs: 0 });
  try {
    const { dialect, language, baseUrl } = settings;
    // Nobody comes back from this page, so any address will do.
    const callback = callbackAddress(target, undefined) ?? baseUrl;
    const [returnUrl, failUrl] = (['return', 'fail'] as const).map(
      (way) => settings[`${way}Url`]?.replace('{token}', 'doctor') ?? `${callback}/doctor/${way}`,
    ) as [string, string];
    const conversationId = dialect.newConversationId();
    const client = new GatewayClient(settings, transport, new SystemClock());
    return await client.startHosted('page', { ...SALE, conversationId, returnUrl, failUrl, language });
  } finally {
    await transport.close();
  }
}

function judge(attempt: HostedAttempt, { variable }: DoctorTarget): Finding {
  if (!attempt.sent) return failed('hosted', `the request was not sent: ${attempt.why}`, null);
  if (attempt.page) return ok('hosted', `the gateway opened a page, and its address can be used ${UNVERIFIED}`);
  const { reason, result } = attempt;
  const words = [reason, result?.code, result?.message].filter(Boolean).join(', ');
  if (reason === 'refused' || reason === 'declined') {
    const advice =
      'Ask the gateway whether the account may use its pages (scope payment). If the credentials are refused, too, ' +
      `look at ${variable('clientSecret')} and ${variable('apiKey')} first.`;
    return failed('hosted', `the gateway refused to open a page: ${words} ${UNVERIFIED}`, advice);
  }
  const advice = 'Pay in another way until the gateway answers as docs/unverified.md assumes.';
  return failed('hosted', `the gateway opened no page that can be used: ${words} ${UNVERIFIED}`, advice);
}

import { Injectable } from '@nestjs/common';
import { PaymentClock } from '../payment/clock.js';
import type { Payment } from '../payment/payment.js';
import type { PaymentReason } from '../payment/payment-reason.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { decodeBankPage } from './dialects/bank-page.js';
import { type Sensitive, redactResult } from './redaction.js';
import type { CallbackFields, GatewayOperation, GatewayResult, SaleRequest } from './gateway-dialect.js';
import { readInquiry } from './readings/inquiry-reading.js';
import { ReplyFields } from './readings/reply-fields.js';
import { isSuccessStatus, meaningsOf, readReply, type ReadingRules } from './readings/charge-reading.js';
import { GatewayTransport, type Transmission, type WireReply } from './transport/gateway-transport.js';
import type { InquiryVerdict, Verdict } from './readings/verdict.js';
import { type WireObject, wireText } from './wire-body.js';

/** A request that may have left, and what in it must not come back. */
type Sent = Exclude<Transmission, { sent: false }> & Pick<Sensitive, 'secrets'>;

/** What became of a DoPayment or Auth3d. `sent: false` is proof that nothing left; `why` is for the developer. */
export type ChargeOutcome =
  { readonly sent: false; readonly why: string } | { readonly sent: true; readonly verdict: Verdict };

/** Not sent, since the claim it would be made under has as good as run out. */
export const TOO_LATE = { sent: false, why: 'the payment store or this process was held up for too long' } as const;

/** What became of an Init3d. `content` is the Base64 page as received, `html` its text. */
export type Init3dOutcome =
  | { readonly sent: false; readonly why: string }
  | { readonly sent: true; readonly content: string; readonly html: string }
  | {
      readonly sent: true;
      readonly content: null;
      readonly reason: PaymentReason;
      readonly result: GatewayResult | null;
    };

/**
 * A request that took longer than this to make (a signer over a network that hung, a process that was suspended) is not sent: by then the
 * claim it belongs to may have run out. Three such waits fit into the margin of a claim.
 */
const MAX_PREPARATION_MS = 8_000;

/** Speaks the dialect over the transport: builds, signs and sends a request, and reads its answer. Keeps nothing. */
@Injectable()
export class GatewayClient {
  constructor(
    private readonly settings: PaymentSettings,
    private readonly transport: GatewayTransport,
    private readonly clock: PaymentClock,
  ) {}

  async doPayment(sale: SaleRequest): Promise<ChargeOutcome> {
    const { dialect, credentials } = this.settings;
    const sent = await this.send('doPayment', dialect.paths.doPayment, () =>
      dialect.doPaymentBody(sale, credentials.merchantId),
    );
    return this.readCharge(sent, sale, sale.cardDetails);
  }

  async init3d(sale: SaleRequest): Promise<Init3dOutcome> {
    const { dialect, credentials } = this.settings;
    const sent = await this.send('init3d', dialect.paths.init3d, () =>
      dialect.init3dBody(sale, credentials.merchantId),
    );
    if (!sent.sent) return sent;
    if (!sent.reply) return { sent: true, content: null, reason: 'no_answer', result: null };
    const outcome = this.readInit3d(sent.reply, sale.conversationId);
    if (outcome.content !== null || !outcome.result) return outcome;
    return { ...outcome, result: redactResult(outcome.result, { secrets: sent.secrets, card: sale.cardDetails }) };
  }

  async auth3d(payment: Payment, fields: CallbackFields): Promise<ChargeOutcome> {
    const { dialect } = this.settings;
    const sent = await this.send('auth3d', dialect.paths.auth3d, () => dialect.auth3dBody(payment, fields));
    return this.readCharge(sent, payment);
  }

  /** Whether the gateway can be asked for an outcome. */
  get canInquire(): boolean {
    return this.settings.dialect.checkPayment !== undefined;
  }

  /** Asks what became of a payment. Moves no money; null when no answer came. */
  async checkPayment(payment: Payment): Promise<InquiryVerdict | null> {
    const { dialect, credentials } = this.settings;
    const { checkPayment } = dialect;
    if (!checkPayment) return { outcome: 'nothing' };
    const sent = await this.send('checkPayment', checkPayment.path, () =>
      checkPayment.body(payment, credentials.merchantId),
    );
    if (!sent.sent || !sent.reply) return null;
    const { reply, secrets } = sent;
    // Signs of inquiries are made in a way that no source tells.
    const rules = { ...this.rules, isSignGood: null };
    const inquiry = guarded<InquiryVerdict>(() => readInquiry(reply, dialect, payment, rules), { outcome: 'nothing' });
    return 'verdict' in inquiry ? { ...inquiry, verdict: withoutEchoesIn(inquiry.verdict, { secrets }) } : inquiry;
  }

  private async send(
    operation: GatewayOperation,
    path: string,
    build: () => WireObject,
  ): Promise<Sent | { sent: false; why: string }> {
    const { dialect, credentials, baseUrl } = this.settings;
    const began = this.clock.now();
    let request, secrets;
    try {
      const unsigned = build();
      const sign: unknown = await dialect.sign(unsigned, { operation, apiKey: credentials.apiKey });
      if (sign !== null && typeof sign !== 'string') return { sent: false, why: 'the signer gave no text' };
      const headers = dialect.headers({ credentials, operation, now: this.clock.now() });
      request = {
        url: baseUrl + path,
        headers,
        body: wireText(sign === null ? unsigned : { ...unsigned, sign }),
      };
      secrets = [credentials.clientSecret, credentials.apiKey ?? '', sign ?? '', ...secretsIn(headers)];
    } catch {
      return { sent: false, why: 'the dialect or the signer failed to make the request' };
    }
    if (this.clock.now().getTime() - began.getTime() > MAX_PREPARATION_MS) {
      return { sent: false, why: 'the signer took too long' };
    }
    const transmission = await this.transport.post(request);
    return transmission.sent
      ? { ...transmission, secrets }
      : { sent: false, why: transmission.cause.replaceAll('_', ' ') };
  }

  private readCharge(
    sent: Sent | { sent: false; why: string },
    expected: Parameters<typeof readReply>[2],
    card?: SaleRequest['cardDetails'],
  ): ChargeOutcome {
    if (!sent.sent) return sent;
    if (!sent.reply) {
      const isSilence = sent.cause === 'deadline' || sent.cause === 'connection_lost';
      return { sent: true, verdict: unknown(isSilence ? 'no_answer' : 'unreadable') };
    }
    const { reply, secrets } = sent;
    const verdict = guarded(() => readReply(reply, this.settings.dialect, expected, this.rules), unknown('unreadable'));
    return { sent: true, verdict: withoutEchoesIn(verdict, { secrets, card }) };
  }

  private readInit3d(reply: WireReply, conversationId: string): Exclude<Init3dOutcome, { sent: false }> {
    const { dialect } = this.settings;
    const failed = (reason: PaymentReason, result: GatewayResult | null = null) =>
      ({ sent: true, content: null, reason, result }) as const;
    return guarded(() => {
      const fields = ReplyFields.parse(reply.text);
      const result = fields && dialect.readResult(fields);
      if (!isSuccessStatus(reply.status)) return failed(reply.status < 500 ? 'refused' : 'server_error', result);
      if (!fields || !result) return failed('unreadable');
      const meanings = meaningsOf(result, fields, dialect);
      if (meanings.includes('declined')) return failed('declined', result);
      if (meanings.some((meaning) => meaning !== 'approved')) return failed('unrecognised_code', result);
      if (fields.has('conversationId') && result.conversationId !== conversationId)
        return failed('conversation_mismatch');
      const content = dialect.readInit3d(fields);
      const html = content === null ? null : decodeBankPage(content);
      return content === null || html === null ? failed('unreadable', result) : { sent: true, content, html };
    }, failed('unreadable'));
  }

  private get rules(): ReadingRules {
    const { verifyAmount, verifySign, dialect, credentials } = this.settings;
    const isSignGood = verifySign && dialect.verifySign?.bind(dialect);
    return {
      verifyAmount,
      isSignGood: isSignGood ? (fields) => isSignGood(fields, { apiKey: credentials.apiKey }) : null,
    };
  }
}

function unknown(reason: PaymentReason): Verdict {
  return { state: 'unknown', reason, result: null };
}

/** A dialect of a host's own may throw while reading; an answer that cannot be read must not become a throw. */
function guarded<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function withoutEchoesIn<V extends { readonly result: GatewayResult | null }>(verdict: V, sensitive: Sensitive): V {
  return verdict.result ? { ...verdict, result: redactResult(verdict.result, sensitive) } : verdict;
}

/** A dialect may send a credential in another form than it is kept in. */
function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(headers).filter((name) => /secret|authorization|key|token/i.test(name));
  return names.map((name) => headers[name] ?? '');
}

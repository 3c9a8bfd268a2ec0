import type { FaultHandle, JsonObject, Simulator } from 'nestjs-card-payment/simulator';
import { answer, keep } from './odd-answers.js';

/** `omitId`: with the code alone. `echoId`: with the conversationId of the request as well. */
export type UnboundApproval = 'omitId' | 'echoId';

/**
 * From now on Auth3d looks at the PaymentId alone, whoever's it is, and does not name what it approves. What it approves
 * is charged only when the payment's own fields are brought, which is refused then.
 */
export function approveUnbound(simulator: Simulator, how: UnboundApproval): FaultHandle {
  const approved = new Set<unknown>();
  return simulator.fail({
    operation: 'Auth3d',
    times: Infinity,
    kind: 'send',
    send(response, { status, headers, body }, request) {
      const { PaymentId, conversationId } = request.body as { PaymentId?: string; conversationId?: string };
      const { code } = status === 200 ? (JSON.parse(body.toString()) as { code: string }) : { code: 'B0000' };
      const repeated = { Code: 'RVV0000000409', Message: 'Auth3d was already called for this payment' };
      const fields = approved.has(PaymentId) ? repeated : { code, ...(how === 'echoId' && { conversationId }) };
      const told = { status: approved.has(PaymentId) ? 400 : 200, headers, body: Buffer.from(JSON.stringify(fields)) };
      approved.add(PaymentId);
      answer(response, told);
    },
  });
}

/** What an inquiry shows besides the code: nothing, its text, the status, the conversationId or the amount. */
export type ShownByInquiry = 'code' | 'text' | 'status' | 'id' | 'amount';

/** From now on CheckPayment tells no more than this of a payment that it knows. */
export function showInInquiries(simulator: Simulator, shown: ShownByInquiry): FaultHandle {
  return simulator.fail({
    operation: 'CheckPayment',
    times: Infinity,
    kind: 'edit',
    edit(fields, { body }) {
      const { responseDescription, transactionStatus, paymentInfo } = fields;
      if (transactionStatus === undefined) return;
      const { conversationId } = body as { conversationId: string };
      const { amount } = (paymentInfo ?? {}) as JsonObject;
      const more = {
        code: {},
        text: { responseDescription },
        status: { transactionStatus },
        id: { conversationId },
        amount: { amount },
      };
      keep(fields, (name) => name === 'responseCode');
      Object.assign(fields, more[shown]);
    },
  });
}

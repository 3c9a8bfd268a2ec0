import type { FaultHandle, Simulator } from 'nestjs-card-payment/simulator';
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

/** From now on CheckPayment tells no more than the code of a payment that it knows. */
export function showCodeInInquiries(simulator: Simulator): FaultHandle {
  return simulator.fail({
    operation: 'CheckPayment',
    times: Infinity,
    kind: 'edit',
    edit(fields) {
      if (fields.transactionStatus !== undefined) keep(fields, (name) => name === 'responseCode');
    },
  });
}

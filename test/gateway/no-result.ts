import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';

/** What is read from an answer that shows nothing. */
export const NO_RESULT: GatewayResult = {
  code: null,
  resultCode: null,
  message: null,
  conversationId: null,
  amount: null,
  currency: null,
  orderId: null,
  paymentId: null,
  bankUniqueReferenceNumber: null,
  authCode: null,
  transactionDate: null,
  commissionRate: null,
  commissionAmount: null,
};

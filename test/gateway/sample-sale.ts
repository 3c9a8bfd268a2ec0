import type { GatewayCredentials, SaleRequest } from '../../lib/gateway/gateway-dialect.js';
import type { RequestClaim } from '../../lib/gateway/transport/attempt.js';

export const CREDENTIALS: GatewayCredentials = {
  merchantId: 'M-1',
  clientId: 'client-1',
  clientSecret: 'c2VjcmV0LWJ5dGVz',
  apiKey: 'api-key-1',
  grantType: 'client_credentials',
  scope: 'pf_write',
};

/** A sale of 60.00 lira. */
export function sampleSale(over: Partial<SaleRequest> = {}): SaleRequest {
  return {
    conversationId: 'ABC00000000000000001',
    returnUrl: 'https://shop.example/payments/direct/return',
    failUrl: 'https://shop.example/payments/direct/fail',
    paymentMethod: 'CARDPAYMENT',
    language: 'tr',
    paymentInstrumentType: 'CARD',
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionType: 'SALE',
    installmentCount: 1,
    amount: '60.00',
    currencyCode: 949,
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    ...over,
  };
}

/** A claim that does not run out. */
export const OPEN_CLAIM: RequestClaim = {
  timeoutMs: 60_000,
  confirmTime: () => Promise.resolve(true),
  mayStart: () => true,
};

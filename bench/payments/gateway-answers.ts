import { AMOUNT } from './sale.js';

/** The answer to an approved sale, without its conversationId. */
const APPROVED_SALE = {
  code: 'B0000',
  message: 'Approved',
  resultCode: 'B0000',
  resultDescription: 'Approved',
  responseDate: '01/02/2026 12:00:01',
  transactionDate: '01/02/2026 12:00:00',
  orderId: 'ORD000000001',
  paymentId: '7000000001',
  bankUniqueReferenceNumber: '503615446559',
  currency: '949',
  authCode: '446559',
  paymentInstrumentType: 'CARDPAYMENT',
  sign: 'AFS3LQ7WKQ3XH0IWSZ8F2W1R4G9XJ5N6ZCVB7MD8KLE=',
  instrumentDetail: { maskedCardNumber: '450803******4509', cardType: 'CARD' },
  paymentInfo: {
    installmentCount: 1,
    amount: Number(AMOUNT),
    payFacCommissionRate: 2.5,
    payFacCommissionAmount: 3.7488,
  },
  okUrl: null,
  failUrl: null,
};

const STRIPE = JSON.stringify({
  id: 'pi_3Nabcdefghijklmnopqrstuv',
  object: 'payment_intent',
  amount: 14995,
  amount_capturable: 0,
  amount_received: 14995,
  application: null,
  canceled_at: null,
  capture_method: 'automatic',
  client_secret: 'pi_3Nabcdefghijklmnopqrstuv_secret_abcdefghijklmnopqrstuv',
  confirmation_method: 'automatic',
  created: 1767225600,
  currency: 'try',
  description: 'order',
  latest_charge: 'ch_3Nabcdefghijklmnopqrstuv',
  livemode: false,
  metadata: { conversationId: 'BEN00000000000000001', merchantId: 'bench-merchant' },
  payment_method: 'pm_1Nabcdefghijklmnopqrstuv',
  payment_method_types: ['card'],
  status: 'succeeded',
});

/** The approval for each client, in the form that the client expects. */
export function answerTo(path: string, request: string): string | null {
  switch (path) {
    case '/v1/Payment/DoPayment':
    case '/v1/Payment/Auth3d':
      return JSON.stringify({ ...APPROVED_SALE, conversationId: textIn(request, 'conversationId') });
    case '/v1/Payment/Init3d':
      return init3dAnswer(request);
    case '/v1/payment_intents':
      return STRIPE;
    default:
      return null;
  }
}

/** A page whose form leads back to the merchant. */
function init3dAnswer(request: string): string {
  const page = `<!doctype html><html><form method="post" action="${textIn(request, 'returnUrl')}"></form></html>`;
  const { code, message, resultCode, resultDescription } = APPROVED_SALE;
  return JSON.stringify({
    code,
    message,
    resultCode,
    resultDescription,
    conversationId: textIn(request, 'conversationId'),
    content: Buffer.from(page).toString('base64'),
  });
}

/** Cheaper than parsing the whole: the mock runs on the machine that is measured. */
function textIn(json: string, name: string): string {
  return new RegExp(`"${name}":"([^"]*)"`).exec(json)?.[1] ?? '';
}

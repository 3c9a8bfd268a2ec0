import { AMOUNT } from './sale.js';

/** The answer to an approved sale, without its conversationId. */
export const APPROVED_SALE = {
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

const STRIPE = {
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
};

const IYZIPAY = {
  status: 'success',
  locale: 'tr',
  systemTime: 1767225600000,
  conversationId: 'BEN00000000000000001',
  price: 149.95,
  paidPrice: 149.95,
  installment: 1,
  paymentId: '7000000001',
  fraudStatus: 1,
  merchantCommissionRate: 2.5,
  merchantCommissionRateAmount: 3.7488,
  iyziCommissionRateAmount: 3.7488,
  iyziCommissionFee: 0.25,
  cardType: 'CREDIT_CARD',
  cardAssociation: 'VISA',
  cardFamily: 'Bonus',
  binNumber: '450803',
  lastFourDigits: '4509',
  currency: 'TRY',
  authCode: '446559',
  phase: 'AUTH',
  hostReference: '503615446559',
  signature: 'a45f3c6be18b4c9d9f6b7d1e0c2a3f4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a',
};

const CRAFTGATE = {
  id: 7000000001,
  createdDate: '2026-01-02T12:00:00',
  price: 149.95,
  paidPrice: 149.95,
  walletPrice: 0,
  currency: 'TRY',
  buyerMemberId: 1,
  installment: 1,
  conversationId: 'BEN00000000000000001',
  paymentType: 'CARD_PAYMENT',
  paymentGroup: 'PRODUCT',
  paymentSource: 'API',
  paymentStatus: 'SUCCESS',
  paymentPhase: 'AUTH',
  isThreeDS: false,
  merchantCommissionRate: 2.5,
  merchantCommissionRateAmount: 3.7488,
  bankCommissionRate: 0,
  paidWithStoredCard: false,
  binNumber: '450803',
  lastFourDigits: '4509',
  authCode: '446559',
  hostReference: '503615446559',
  transId: 'ORD000000001',
  mdStatus: 0,
};

const PAGE_BYTES = 65_536;

/** The approval for each client, in the form that the client expects. */
export function answerTo(path: string, request: string): string | null {
  switch (path) {
    case '/v1/Payment/DoPayment':
    case '/v1/Payment/Auth3d':
      return JSON.stringify({ ...APPROVED_SALE, conversationId: textIn(request, 'conversationId') });
    case '/v1/Payment/Init3d':
      return init3dAnswer(request, 0);
    case '/large-page/v1/Payment/Init3d':
      return init3dAnswer(request, PAGE_BYTES);
    case '/v1/payment_intents':
      return STRIPE_TEXT;
    case '/payment/auth':
      return IYZIPAY_TEXT;
    case '/payment/v1/card-payments':
      return CRAFTGATE_TEXT;
    default:
      return null;
  }
}

const STRIPE_TEXT = JSON.stringify(STRIPE);
const IYZIPAY_TEXT = JSON.stringify(IYZIPAY);
const CRAFTGATE_TEXT = JSON.stringify({ data: CRAFTGATE });

/** A page whose form leads back to the merchant, of at least so many bytes. */
function init3dAnswer(request: string, bytes: number): string {
  const form = `<!doctype html><html><form method="post" action="${textIn(request, 'returnUrl')}"></form><!--`;
  const page = `${form.padEnd(bytes - '--></html>'.length, ' bank')}--></html>`;
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

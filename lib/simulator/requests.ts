import type { IncomingHttpHeaders } from 'node:http';
import { currencyOf, isJsonObject, JsonNumber, type JsonObject, type JsonValue, parseExact } from './wire-values.js';
import type { SimulatorOperation } from './ledger.js';
import type { SimulatorSettings } from './simulator-options.js';

/**
 * Why the simulator refuses a request. Only the first code comes from public sources; the others are the simulator's
 * own.
 */
export const REFUSAL_CODES = {
  conversationId: 'RVV0000999999',
  json: 'RVV0000000400',
  credentials: 'RVV0000000401',
  sign: 'RVV0000000403',
  path: 'RVV0000000404',
  method: 'RVV0000000405',
  repeated: 'RVV0000000409',
  callback: 'RVV0000000412',
  contentType: 'RVV0000000415',
  fields: 'RVV0000000422',
} as const;

/** Thrown for a request that the simulator does not accept. Its texts name fields, never values. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problems: readonly string[] = [],
  ) {
    super(message);
  }
}

export type Scope = 'pf_write' | 'pf_read' | 'payment';
/**
 * The scopes that a request may name. The vendor's plugins send `payment` alone, and only for the gateway's own page.
 */
const KNOWN_SCOPES: Readonly<Record<Scope, readonly string[]>> = {
  pf_write: ['pf_write', 'pf_read'],
  pf_read: ['pf_write', 'pf_read'],
  payment: ['payment'],
};

/**
 * Checks the five headers of docs/interface.md. The service's public documentation says that operations other than
 * DoPayment carry them too, and shows the morpos forms of x-Timestamp and x-ClientSecret.
 *
 * @throws Refusal (401)
 */
export function checkHeaders(headers: IncomingHttpHeaders, needed: Scope, settings: SimulatorSettings): void {
  const { dialect, clock, timestampToleranceMs } = settings;
  const { clientId, clientSecret } = settings.credentials;
  const text = (name: string) => (typeof headers[name] === 'string' ? headers[name] : '');
  const timestamp = text('x-timestamp');
  const distanceMs = Math.abs(dialect.readTimestamp(timestamp) - clock().getTime());
  const scopes = text('x-scope').split(/,? /);
  const checks = {
    'x-Timestamp': distanceMs <= timestampToleranceMs,
    'x-ClientID': text('x-clientid') === clientId,
    'x-ClientSecret': text('x-clientsecret') === dialect.clientSecret(clientSecret, timestamp),
    'x-GrantType': text('x-granttype') === 'client_credentials',
    'x-Scope': scopes.every((scope) => KNOWN_SCOPES[needed].includes(scope)) && scopes.includes(needed),
  };
  const wrong = Object.entries(checks).find(([, good]) => !good);
  if (wrong) throw new Refusal(401, REFUSAL_CODES.credentials, 'Unauthorized', [`${wrong[0]} is missing or wrong`]);
}

/** @throws Refusal (400, 415) when it is not a JSON object */
export function readJson(headers: IncomingHttpHeaders, text: string): JsonObject {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new Refusal(415, REFUSAL_CODES.contentType, 'The body must be application/json');
  }
  let body: JsonValue;
  try {
    body = parseExact(text);
  } catch {
    throw new Refusal(400, REFUSAL_CODES.json, 'The body is not JSON');
  }
  if (!isJsonObject(body)) throw new Refusal(400, REFUSAL_CODES.json, 'The body is not a JSON object');
  return body;
}

/** A request that passed every check. A text that it does not carry is empty. */
export interface GatewayRequest {
  readonly operation: SimulatorOperation;
  readonly conversationId: string;
  readonly language: string;
  readonly returnUrl: string;
  readonly failUrl: string;
  /** First 6 and last 4 digits. */
  readonly maskedCardNumber: string;
  /** MMyy */
  readonly expDate: string;
  /** The digits that were sent. A void has none, which is of the whole sale. */
  readonly amount: string;
  readonly currencyCode: number;
  /**
   * For a page of the gateway's, 0: not in instalments, or as the buyer chooses. Which of the two it means to the real
   * gateway is unverified.
   */
  readonly installmentCount: number;
  /** The payment's, of a refund; a void names no order. */
  readonly orderId: string;
  readonly paymentId: string;
  readonly bin: string;
}

/** @throws Refusal (400) that names every wrong field */
export function readRequest(
  operation: SimulatorOperation,
  body: JsonObject,
  settings: SimulatorSettings,
): GatewayRequest {
  const problems = operation === 'Auth3d' ? [] : problemsOf(body, RULES[operation](fieldRules(settings)), '');
  if (problems.length > 0) throw refusedFields(problems);
  const [card = {}, details = {}] = [body.cardDetails, body.transactionDetails].map(objectOf);
  const cardNo = textOf(card.cardNo);
  const request = {
    operation,
    conversationId: textOf(body.conversationId),
    language: textOf(body.language),
    returnUrl: textOf(body.returnUrl),
    failUrl: textOf(body.failUrl),
    maskedCardNumber: cardNo === '' ? '' : maskedCard(cardNo),
    expDate: textOf(card.expDate),
    amount: textOf(details.amount ?? body.amount),
    currencyCode: Number(textOf(details.currencyCode ?? details.currency ?? body.currencyCode) || '949'),
    installmentCount: Number(textOf(details.installmentCount)),
    orderId: textOf(body.orderId),
    paymentId: textOf(body.paymentId),
    bin: textOf(body.bin),
  };
  const decimals = currencyOf(request.currencyCode)?.decimals ?? 0;
  if ((request.amount.split('.')[1]?.length ?? 0) > decimals && operation !== 'CheckBin') {
    throw refusedFields(['transactionDetails.amount has more decimals than its currency']);
  }
  return request;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? value : '';
}

/** First 6 and last 4 digits. */
export function maskedCard(cardNo: string): string {
  return cardNo.slice(0, 6) + '*'.repeat(cardNo.length - 10) + cardNo.slice(-4);
}

/** Whether a value is valid; it is undefined if it is missing. */
type Rule = (value: JsonValue | undefined) => boolean;
interface Rules {
  readonly [field: string]: Rule | Rules;
}

const AMOUNT = /^(?=.*[1-9])\d+(\.\d+)?$/;

/** The fields of a sale (docs/interface.md). Other operations use some of them. */
export function fieldRules({ credentials, dialect, luhn }: SimulatorSettings) {
  return {
    merchantId: oneOf(credentials.merchantId),
    returnUrl: isWebUrl,
    failUrl: isWebUrl,
    paymentMethod: oneOf('CARDPAYMENT'),
    language: oneOf('tr', 'en'),
    conversationId: matches(dialect.conversationId),
    sign: isText,
    paymentInstrumentType: oneOf('CARD'),
    cardDetails: {
      cardNo: (value) => matches(/^\d{12,19}$/)(value) && (!luhn || hasCheckDigit(value as string)),
      expDate: matches(/^(0[1-9]|1[0-2])\d\d$/),
      cvv: matches(/^\d{3,4}$/),
    },
    transactionDetails: {
      transactionType: oneOf('SALE'),
      installmentCount: isNumber(/^\d{1,2}$/),
      amount: isNumber(AMOUNT),
      currencyCode: (value) => isNumber(/^\d{1,3}$/)(value) && !!currencyOf(Number((value as JsonNumber).text)),
      vftFlag: optional((value) => typeof value === 'boolean'),
    },
    cardHolderInfo: {
      cardHolderName: isText,
      buyerGsm: matches(/^\+?(?:[\s()-]*\d){7,15}[\s()-]*$/),
    },
    extraParameter: { pfSubMerchantId: optional(isText) },
  } satisfies Rules;
}

type SaleRules = ReturnType<typeof fieldRules>;

/**
 * The fields that the vendor's plugins send for a page of the gateway's: those of a sale without the card and its
 * holder, with the amount and the currency as text, and with a capital F in `pFSubMerchantId`, which may be empty.
 */
function hostedRules(method: string): (rules: SaleRules) => Rules {
  return ({ cardDetails: _card, cardHolderInfo: _holder, transactionDetails: details, ...rules }) => ({
    ...rules,
    paymentMethod: oneOf(method),
    transactionDetails: {
      ...details,
      installmentCount: isNumber(/^(?:0|[2-9]|[1-9]\d)$/),
      amount: isAmountText,
      currencyCode: isCurrencyText,
    },
    extraParameter: { pFSubMerchantId: optional((value) => typeof value === 'string') },
  });
}

const whole = (rules: SaleRules): Rules => rules;

/** The fields of each operation. What Auth3d brings is compared with what the bank sent. */
const RULES: Readonly<Record<Exclude<SimulatorOperation, 'Auth3d'>, (rules: SaleRules) => Rules>> = {
  DoPayment: whole,
  Init3d: whole,
  CheckPayment: ({ merchantId, conversationId, sign }) => ({ merchantId, conversationId, sign }),
  // The amount and its currency are the simulator's own: the vendor's plugins send neither.
  CheckBin: ({ merchantId, conversationId, language, sign }) => ({
    ...{ merchantId, conversationId, language, sign, bin: matches(/^\d{6,8}$/) },
    ...{ amount: optional(isAmountText), currencyCode: optional(isCurrencyText) },
  }),
  refund: ({ merchantId, language, conversationId, sign, transactionDetails: { amount } }) => ({
    ...{ merchantId, language, conversationId, sign, orderId: isText, paymentId: isText },
    transactionDetails: { transactionType: oneOf('REFUND'), currencyCode: isCurrencyText, amount },
  }),
  void: ({ merchantId, language, conversationId, sign }) => ({
    ...{ merchantId, language, conversationId, sign, paymentId: isText },
    transactionDetails: { transactionType: oneOf('VOID'), currency: isCurrencyText },
  }),
  hostedPage: hostedRules('HOSTEDPAYMENT'),
  embeddedForm: hostedRules('EMBEDDEDPAYMENT'),
};

function refusedFields(problems: string[]): Refusal {
  const wrongId = problems.some((problem) => problem.startsWith('conversationId '));
  const code = wrongId ? REFUSAL_CODES.conversationId : REFUSAL_CODES.fields;
  return new Refusal(400, code, 'Validation error', problems);
}

function problemsOf(value: JsonValue | undefined, rules: Rules, path: string): string[] {
  if (!isJsonObject(value)) return [`${path.slice(0, -1)} must be an object`];
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(rules, name));
  const problems = unknown.map((name) => `${path}${name} is not a field`);
  for (const [name, rule] of Object.entries(rules)) {
    const member = value[name];
    if (typeof rule === 'function') {
      if (!rule(member)) problems.push(`${path}${name} is missing or wrong`);
    } else if (member !== undefined || !allOptional(rule)) {
      problems.push(...problemsOf(member, rule, `${path}${name}.`));
    }
  }
  return problems;
}

function allOptional(rules: Rules): boolean {
  return Object.values(rules).every((rule) => typeof rule === 'function' && rule(undefined));
}

function optional(rule: Rule): Rule {
  return (value) => value === undefined || rule(value);
}

const isText: Rule = (value) => typeof value === 'string' && value.trim() !== '';
const isWebUrl: Rule = (value) => typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

/** An amount as text, digit for digit. */
const isAmountText: Rule = matches(AMOUNT);
/** A currency as text: ISO 4217's three digits. */
const isCurrencyText: Rule = (value) => matches(/^\d{3}$/)(value) && !!currencyOf(Number(value));

function oneOf(...texts: string[]): Rule {
  return (value) => typeof value === 'string' && texts.includes(value);
}

function matches(pattern: RegExp): Rule {
  return (value) => typeof value === 'string' && pattern.test(value);
}

/** A JSON number whose digits, as they were sent, match. */
function isNumber(pattern: RegExp): Rule {
  return (value) => value instanceof JsonNumber && pattern.test(value.text);
}

function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

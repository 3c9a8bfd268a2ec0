import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from './exact-json.js';
import { currencyOf } from './money.js';
import { Refusal, REFUSAL_CODES } from './refusal.js';
import type { SimulatorSettings } from './simulator-options.js';

/** A DoPayment or Init3d body that passed every check (docs/interface.md). */
export interface Sale {
  readonly conversationId: string;
  readonly returnUrl: string;
  readonly failUrl: string;
  readonly language: string;
  readonly cardDetails: { readonly cardNo: string; readonly expDate: string; readonly cvv: string };
  /** The digits that were sent. */
  readonly amount: string;
  readonly currencyCode: number;
  readonly installmentCount: number;
}

/** Whether a value, undefined where it is missing, is as it should be. */
type Rule = (value: JsonValue | undefined) => boolean;
interface Rules {
  readonly [field: string]: Rule | Rules;
}

/** @throws Refusal (400) that names every wrong field */
export function checkSale(body: JsonValue, settings: SimulatorSettings): Sale {
  const fields = checkFields(body, saleRules(settings));
  const card = fields.cardDetails as JsonObject;
  const transaction = fields.transactionDetails as JsonObject;
  const sale = {
    conversationId: fields.conversationId as string,
    returnUrl: fields.returnUrl as string,
    failUrl: fields.failUrl as string,
    language: fields.language as string,
    cardDetails: { cardNo: card.cardNo as string, expDate: card.expDate as string, cvv: card.cvv as string },
    amount: (transaction.amount as JsonNumber).text,
    currencyCode: Number((transaction.currencyCode as JsonNumber).text),
    installmentCount: Number((transaction.installmentCount as JsonNumber).text),
  };
  if ((sale.amount.split('.')[1]?.length ?? 0) > (currencyOf(sale.currencyCode)?.decimals ?? 0)) {
    throw refusedFields(['transactionDetails.amount has more decimals than its currency']);
  }
  return sale;
}

/** @throws Refusal (400) that names every wrong field */
export function checkInquiry(body: JsonValue, settings: SimulatorSettings): string {
  const { merchantId, conversationId, sign } = saleRules(settings);
  return checkFields(body, { merchantId, conversationId, sign }).conversationId as string;
}

/** @throws Refusal (400) that names every wrong field */
export function checkBinInquiry(body: JsonValue, settings: SimulatorSettings): void {
  const { merchantId, conversationId, language, sign } = saleRules(settings);
  checkFields(body, { merchantId, conversationId, language, bin: matches(/^\d{6,8}$/), sign });
}

function saleRules({ credentials, dialect, luhn }: SimulatorSettings) {
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
      amount: isNumber(/^(?=.*[1-9])\d+(\.\d+)?$/),
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

function checkFields(body: JsonValue, rules: Rules): JsonObject {
  const problems = problemsOf(body, rules, '');
  if (problems.length > 0) throw refusedFields(problems);
  return body as JsonObject;
}

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

function oneOf(...texts: string[]): Rule {
  return (value) => typeof value === 'string' && texts.includes(value);
}

function matches(pattern: RegExp): Rule {
  return (value) => typeof value === 'string' && pattern.test(value);
}

/** JSON numbers only; their own digits must match. */
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

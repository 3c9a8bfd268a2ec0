import type { BankCallback } from 'nestjs-card-payment/simulator';

/** How a bank may send its result, which the interface does not show. */
export interface BankWay {
  readonly method?: 'form' | 'get' | 'json';
  readonly instrumentDetail?: 'dotted' | 'bracket' | 'json';
}

const DETAIL = /^InstrumentDetail\.(\w+)$/;

/** The callback's fields, with `InstrumentDetail` in this notation. */
export function fieldsIn({ fields }: Pick<BankCallback, 'fields'>, notation: BankWay['instrumentDetail'] = 'dotted') {
  if (notation !== 'json') {
    const name = (field: string) => (notation === 'dotted' ? field : field.replace(DETAIL, 'InstrumentDetail[$1]'));
    return Object.fromEntries(Object.entries(fields).map(([field, value]) => [name(field), value]));
  }
  const { InstrumentDetail, ...others } = nested(fields);
  return { ...(others as Record<string, string>), InstrumentDetail: JSON.stringify(InstrumentDetail) };
}

interface BankRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** The callback as the request of a bank that has this way. */
export function sentAs(callback: BankCallback, { method = 'form', instrumentDetail }: BankWay): BankRequest {
  const { url, fields } = callback;
  if (method === 'json') {
    return {
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(nested(fields)),
    };
  }
  const form = new URLSearchParams(fieldsIn(callback, instrumentDetail)).toString();
  if (method === 'get') return { url: `${url}?${form}`, method: 'GET', headers: {} };
  return { url, method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: form };
}

/** The fields as the gateway's hosted page names them. */
export function underHostedNames({ url, fields, ...rest }: BankCallback): BankCallback {
  const { Code = '', Message = '', conversationId = '', PaymentId = '', Currency = '' } = fields;
  const sent = { ResultCode: Code, Message, ConversationId: conversationId, PaymentId, Currency };
  return { url, ...rest, fields: { ...sent, InstallmentCount: '1', InstrumentDetail: '[object Object]' } };
}

function nested(fields: BankCallback['fields']): Record<string, unknown> {
  const detail = Object.entries(fields).filter(([name]) => DETAIL.test(name));
  const others = Object.entries(fields).filter(([name]) => !DETAIL.test(name));
  const members = detail.map(([name, value]) => [name.replace(DETAIL, '$1'), value] as const);
  return { ...Object.fromEntries(others), ...(detail.length > 0 && { InstrumentDetail: Object.fromEntries(members) }) };
}

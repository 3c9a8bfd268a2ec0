import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  type FaultPlay,
  JsonNumber,
  type JsonObject,
  type RecordedRequest,
  type WireReply,
} from 'nestjs-card-payment/simulator';

const DEPTH = 10_000;

/** What a gateway may answer that no merchant asks for: to be played by `fail()`. */
export const ODD = {
  html: reply('<!doctype html><title>Error</title><h1>Service unavailable</h1>', 'text/html'),
  empty: reply(''),
  null: reply('null'),
  array: reply('[]'),
  string: reply('"B0000"'),
  'empty-object': reply('{}'),
  'cut-json': text((json) => json.slice(0, -Math.ceil(json.length / 3))),
  'ten-mebibytes': text((json) => json.replace('{', `{"padding":"${'x'.repeat(10 * 1024 * 1024)}",`)),
  proto: text((json) => `{"__proto__":${json}}`),
  nested: text((json) => json.replace('{', `{"deep":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)},`)),
  'nested-only': reply('{"code":'.repeat(DEPTH) + '"B0000"' + '}'.repeat(DEPTH)),

  bom: text((json) => `\uFEFF${json}`),
  'latin-1': changed(({ body, ...rest }) => ({
    ...withHeader(rest, 'content-type', 'application/json; charset=iso-8859-1'),
    body: Buffer.from(body.toString().replace(/("message":)"[^"]*"/, '$1"Ödeme geçerli"'), 'latin1'),
  })),
  /** UTF-8 that was read as Latin-1. */
  mojibake: edit((fields) => (fields.message = Buffer.from('Onaylandı').toString('latin1'))),
  gzip: encoded('gzip', gzipSync),
  'text-plain': changed(({ body, ...rest }) => ({ ...withHeader(rest, 'content-type', 'text/plain'), body })),
  'pascal-case': text((json) =>
    json.replace(/([{,]")([a-z])/g, (_match, before: string, letter: string) => before + letter.toUpperCase()),
  ),

  'unheard-of-code': code('B7777', 'Unknown'),
  'indeterminate-code': code('B0096', 'System error'),
  'declined-code': code('B0051', 'Insufficient funds/over credit limit'),
  'partial-approval': code('B0010', 'Partial Approval'),
  'no-code': edit((fields) => keep(fields, (name) => name !== 'code' && name !== 'resultCode')),
  /** An approval that does not name its payment. */
  'bare-code': edit((fields) => keep(fields, (name) => name === 'code' || name === 'responseCode')),
  'codes-disagree': edit((fields) => (fields.resultCode = 'B0051')),
  'wrong-conversation-id': edit((fields) => (fields.conversationId = 'SIM00000000000000000')),
  'smaller-amount': edit((fields, request) => changeAmount(fields, request, () => '0.01')),
  'larger-amount': edit((fields, request) => changeAmount(fields, request, (amount) => `1${amount}`)),
  'other-currency': edit((fields) => (fields.currency = fields.currency === '840' ? '978' : '840')),
  'bad-sign': edit((fields) => fields.sign !== undefined && (fields.sign = `${'A'.repeat(43)}=`)),

  'page-not-base64': change('htmlForm', () => '*** no Base64 ***'),
  'page-not-html': change('htmlForm', () => base64('This is not a page.')),
  'page-missing': change('htmlForm', () => undefined),
  'page-twice': edit((fields) => (fields.HTMLFORM = base64('<html><body>Another page</body></html>'))),

  'redirect-http': change('returnUrl', () => 'http://gateway.example/hosted/page'),
  'redirect-javascript': change('returnUrl', () => 'javascript:alert(document.domain)'),
  'redirect-missing': change('returnUrl', () => undefined),
  'redirect-too-long': change('returnUrl', (url) => `${url}?${'x'.repeat(8 * 1024)}`),
  'form-missing': change('paymentFormContent', () => undefined),
  'form-too-long': change('paymentFormContent', (form) => `${form}<!--${'x'.repeat(2 * 1024 * 1024)}-->`),
} satisfies Record<string, FaultPlay>;

export type OddName = keyof typeof ODD;
export const ODD_NAMES = Object.keys(ODD) as OddName[];

/** The right answer; what is odd is its connection. */
export const BYTE_BY_BYTE: FaultPlay = {
  kind: 'send',
  async send(response, { status, headers, body }) {
    response.writeHead(status, { ...headers, 'content-length': body.length });
    for (const byte of body) {
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  },
};
export const CLOSED_AFTERWARDS: FaultPlay = {
  kind: 'send',
  send(response, right) {
    const { socket } = response;
    response.once('finish', () => socket?.destroySoon());
    answer(response, right);
  },
};
/** The connection is kept, and reset as its next request arrives, which the simulator does not see. */
export const RESET_AT_NEXT: FaultPlay = {
  kind: 'send',
  send(response, right) {
    const { socket } = response;
    response.once('finish', () => socket?.removeAllListeners('data').once('data', () => socket.resetAndDestroy()));
    answer(response, right);
  },
};

/** The right answer with another status, other headers or another body. */
export function changed(change: (right: WireReply) => WireReply): FaultPlay {
  return { kind: 'send', send: (response, right) => answer(response, change(right)) };
}

export function answer(response: ServerResponse, { status, headers, body }: WireReply): void {
  response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

function reply(body: string, type = 'application/json; charset=utf-8'): FaultPlay {
  return { kind: 'reply', status: 200, headers: { 'content-type': type }, body };
}

function edit(edit: (fields: JsonObject, request: RecordedRequest) => unknown): FaultPlay {
  return { kind: 'edit', edit };
}

/** Changes a text of answers that have it. JSON leaves out what is undefined. */
function change(name: string, to: (value: string) => string | undefined): FaultPlay {
  return edit((fields) => typeof fields[name] === 'string' && (fields[name] = to(fields[name])));
}

export function keep(fields: JsonObject, isKept: (name: string) => boolean): void {
  for (const name of Object.keys(fields)) if (!isKept(name)) delete fields[name];
}

function code(code: string, message: string): FaultPlay {
  return edit((fields) => Object.assign(fields, { code, message, resultCode: code, resultDescription: message }));
}

/** A refund's own answer names no amount: one is made up. */
function changeAmount(fields: JsonObject, { operation }: RecordedRequest, change: (amount: string) => string): void {
  if (operation === 'refund' || operation === 'void') fields.paymentInfo = { amount: new JsonNumber('60.00') };
  const info = fields.paymentInfo as { amount?: unknown } | null | undefined;
  if (info?.amount instanceof JsonNumber) info.amount = new JsonNumber(change(info.amount.text));
}

function text(change: (json: string) => string): FaultPlay {
  return changed(({ body, ...rest }) => ({ ...rest, body: Buffer.from(change(body.toString())) }));
}

function encoded(name: string, encode: (body: Buffer) => Buffer): FaultPlay {
  return changed(({ body, ...rest }) => ({ ...withHeader(rest, 'content-encoding', name), body: encode(body) }));
}

function withHeader({ headers, ...rest }: Omit<WireReply, 'body'>, name: string, value: string) {
  return { ...rest, headers: { ...headers, [name]: value } };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

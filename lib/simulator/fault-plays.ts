import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { isJsonObject, JsonNumber, type JsonObject } from './exact-json.js';
import type { RecordedRequest, WireReply } from './http.js';
import { codeText } from './magic.js';

/** What goes wrong with a request or its answer. */
export type FaultPlay =
  /** The connection is reset (TCP RST). */
  | { readonly kind: 'reset' }
  /** The connection is closed (TCP FIN). */
  | { readonly kind: 'close' }
  /** Nothing happens until the client goes away, or until `release()`: then the request takes its normal course. */
  | { readonly kind: 'stall' }
  /** The headers and the first half of the answer's body, then the connection is closed. */
  | { readonly kind: 'half-reply' }
  /** The right answer, byte by byte. */
  | { readonly kind: 'one-byte' }
  /** The right answer; then the connection is reset as its next request arrives. */
  | { readonly kind: 'close-next-request' }
  /** The right answer, which announces keep-alive; then the connection is closed. */
  | { readonly kind: 'close-after-reply' }
  /** An answer of your own. */
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  /**
   * A status whose body is the documented error shape, HTML or empty. A 3xx points at `location`, by default the
   * simulator.
   */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: 'json' | 'html' | 'empty';
      readonly code?: string;
      readonly location?: string;
    }
  /** The right answer with other fields: changed in place, before it is signed. Numbers are {@link JsonNumber}. */
  | { readonly kind: 'edit'; readonly edit: (fields: JsonObject, request: RecordedRequest) => unknown }
  /** An answer that your own code sends. */
  | {
      readonly kind: 'send';
      readonly send: (response: ServerResponse, reply: WireReply, request: RecordedRequest) => unknown;
    }
  /** The right answer with other bytes or headers. */
  | { readonly kind: 'transform'; readonly transform: (reply: WireReply) => WireReply };

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_PAGE = '<!doctype html><title>Error</title><h1>Service unavailable</h1>';
const DEPTH = 10_000;
/** Longer than any address that a client has to keep. */
const LONG_QUERY = 'x'.repeat(8 * 1024);
const LONG_FORM = 'x'.repeat(2 * 1024 * 1024);

/** The faults that have a name. */
const FAULTS = {
  html: reply(HTML_PAGE, 'text/html'),
  empty: reply(''),
  null: reply('null'),
  array: reply('[]'),
  string: reply('"B0000"'),
  'empty-object': reply('{}'),
  'cut-json': body((text) => text.slice(0, -Math.ceil(text.length / 3))),
  'ten-mebibytes': body((text) => text.replace('{', `{"padding":"${'x'.repeat(10 * 1024 * 1024)}",`)),
  proto: body((text) => `{"__proto__":${text}}`),
  nested: body((text) => text.replace('{', `{"deep":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)},`)),
  'nested-only': reply('{"code":'.repeat(DEPTH) + '"B0000"' + '}'.repeat(DEPTH)),

  bom: body((text) => `\uFEFF${text}`),
  'latin-1': {
    kind: 'transform',
    transform: ({ status, headers, body }) => {
      const text = body.toString().replace(/("message":)"[^"]*"/, '$1"Ödeme geçerli"');
      return withBody(
        { status, headers: { ...headers, 'content-type': 'application/json; charset=iso-8859-1' }, body },
        Buffer.from(text, 'latin1'),
      );
    },
  },
  /** UTF-8 that was read as Latin-1. */
  mojibake: edit((fields) => (fields.message = Buffer.from(codeText('B0000', 'tr')).toString('latin1'))),
  gzip: encoded('gzip', gzipSync),
  deflate: encoded('deflate', deflateSync),
  br: encoded('br', brotliCompressSync),
  'text-plain': {
    kind: 'transform',
    transform: (real) => ({ ...real, headers: { ...real.headers, 'content-type': 'text/plain' } }),
  },
  'pascal-case': body((text) =>
    text.replace(/([{,]")([a-z])/g, (_match, before: string, letter: string) => before + letter.toUpperCase()),
  ),

  'unheard-of-code': codes('B7777'),
  'indeterminate-code': codes('B0096'),
  'declined-code': codes('B0051'),
  'partial-approval': codes('B0010'),
  'no-code': edit((fields) => {
    delete fields.code;
    delete fields.resultCode;
  }),
  /** The code alone: an approval does not name its payment. */
  'bare-code': edit((fields) => {
    for (const name of Object.keys(fields)) if (name !== 'code' && name !== 'responseCode') delete fields[name];
  }),
  'codes-disagree': edit((fields) => (fields.resultCode = 'B0051')),
  'wrong-conversation-id': edit((fields) => (fields.conversationId = 'SIM00000000000000000')),
  'smaller-amount': edit((fields, request) => changeAmount(fields, request, () => '0.01')),
  'larger-amount': edit((fields, request) => changeAmount(fields, request, (amount) => `1${amount}`)),
  'other-currency': edit((fields) => (fields.currency = fields.currency === '840' ? '978' : '840')),
  // A refund's own answer has no sign.
  'bad-sign': edit((fields, request) => {
    if (fields.sign !== undefined || isRefund(request)) fields.sign = `${'A'.repeat(43)}=`;
  }),

  'page-not-base64': edit((fields) => (fields.htmlForm = '*** no Base64 ***')),
  'page-not-html': edit((fields) => (fields.htmlForm = base64('This is not a page.'))),
  'page-missing': edit((fields) => delete fields.htmlForm),
  /** A second page, under the same name in upper case. */
  'page-twice': edit((fields) => {
    fields.HTMLFORM = base64('<html><body>Another page</body></html>');
  }),

  /** Where the browser is sent: `returnUrl` of hostedPage's answer. */
  'redirect-http': changeText('returnUrl', () => 'http://gateway.example/hosted/page'),
  'redirect-javascript': changeText('returnUrl', () => 'javascript:alert(document.domain)'),
  'redirect-missing': changeText('returnUrl', () => undefined),
  'redirect-too-long': changeText('returnUrl', (url) => `${url}?${LONG_QUERY}`),
  /** `paymentFormContent` of embeddedForm's answer. */
  'form-missing': changeText('paymentFormContent', () => undefined),
  'form-too-long': changeText('paymentFormContent', (form) => `${form}<!--${LONG_FORM}-->`),
} satisfies Record<string, FaultPlay>;

export type FaultName = keyof typeof FAULTS;
export const NAMED_FAULTS: Readonly<Record<FaultName, FaultPlay>> = FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

function reply(text: string, contentType = JSON_TYPE): FaultPlay {
  return { kind: 'reply', status: 200, headers: { 'content-type': contentType }, body: text };
}

function edit(change: (fields: JsonObject, request: RecordedRequest) => unknown): FaultPlay {
  return { kind: 'edit', edit: change };
}

/** Changes a field of answers that have it. JSON leaves out what is undefined. */
function changeText(name: string, change: (value: string) => string | undefined): FaultPlay {
  return edit((fields) => {
    const value = fields[name];
    if (typeof value === 'string') fields[name] = change(value);
  });
}

function codes(code: string): FaultPlay {
  const message = codeText(code, 'en');
  return edit((fields) => Object.assign(fields, { code, message, resultCode: code, resultDescription: message }));
}

/** The answer to a refund names no amount: one of its own is changed. */
function changeAmount(fields: JsonObject, request: RecordedRequest, change: (amount: string) => string): void {
  if (isRefund(request)) fields.paymentInfo = { amount: new JsonNumber('60.00') };
  const info = fields.paymentInfo;
  if (isJsonObject(info) && info.amount instanceof JsonNumber) info.amount = new JsonNumber(change(info.amount.text));
}

function isRefund({ operation }: RecordedRequest): boolean {
  return operation === 'refund' || operation === 'void';
}

function body(change: (text: string) => string): FaultPlay {
  return { kind: 'transform', transform: (real) => withBody(real, Buffer.from(change(real.body.toString()))) };
}

function encoded(name: string, encode: (body: Buffer) => Buffer): FaultPlay {
  return {
    kind: 'transform',
    transform: (real) =>
      withBody({ ...real, headers: { ...real.headers, 'content-encoding': name } }, encode(real.body)),
  };
}

function withBody(real: WireReply, changed: Buffer): WireReply {
  return { ...real, body: changed };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

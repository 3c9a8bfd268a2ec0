import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { replyText } from '../../../lib/gateway/transport/attempt.js';

const TEXT = '{"code":"B0000","message":"Onaylandı, Şükrü"}';

describe('the text of a body', () => {
  it.each([
    ['plain', {}, Buffer.from(TEXT)],
    ['with a BOM', {}, Buffer.from(`\uFEFF${TEXT}`)],
    ['as text/plain', { 'content-type': 'text/plain' }, Buffer.from(TEXT)],
    ['in UTF-8, said to be Latin-1', { 'content-type': 'text/json; charset=iso-8859-1' }, Buffer.from(TEXT)],
    ['gzipped', { 'content-encoding': 'gzip' }, gzipSync(TEXT)],
    ['gzipped, in capitals', { 'content-encoding': ' X-GZIP ' }, gzipSync(TEXT)],
    ['deflated', { 'content-encoding': 'deflate' }, deflateSync(TEXT)],
    ['deflated without a zlib header', { 'content-encoding': 'deflate' }, deflateRawSync(TEXT)],
    ['as brotli', { 'content-encoding': 'br' }, brotliCompressSync(TEXT)],
    ['by two codings', { 'content-encoding': 'br, identity, gzip' }, gzipSync(brotliCompressSync(TEXT))],
  ])('%s', (_how, headers, body) => {
    expect(replyText(body, headers)).toEqual({ text: TEXT });
  });

  it.each([
    ['Latin-1, as said', { 'content-type': 'application/json; charset=iso-8859-1' }, [0x22, 0xe9, 0x22], '"é"'],
    ['Turkish, as said', { 'content-type': 'application/json; charset="windows-1254"' }, [0xde, 0xfe], 'Şş'],
    ['Latin-1, for want of a name', {}, [0x22, 0xe9, 0x22], '"é"'],
    ['Latin-1, for want of a known name', { 'content-type': 'text/x; charset=nonsense' }, [0x22, 0xe9, 0x22], '"é"'],
    ['Latin-1, where UTF-8 is a lie', { 'content-type': 'text/x; charset=utf-8' }, [0x22, 0xe9, 0x22], '"é"'],
    ['UTF-16, as said', { 'content-type': 'text/x; charset=utf-16le' }, [0xff, 0xfe, 0xe9, 0x00], 'é'],
    ['empty, said to be gzipped', { 'content-encoding': 'gzip' }, [], ''],
  ])('in %s', (_how, headers, bytes, text) => {
    expect(replyText(Buffer.from(bytes), headers)).toEqual({ text });
  });

  it.each([
    ['not what it says', { 'content-encoding': 'gzip' }, Buffer.from(TEXT)],
    ['cut', { 'content-encoding': 'gzip' }, gzipSync(TEXT).subarray(0, 20)],
    ['in an unknown coding', { 'content-encoding': 'zstd' }, Buffer.from(TEXT)],
    ['in three codings', { 'content-encoding': 'gzip, gzip, gzip' }, gzipSync(gzipSync(gzipSync(TEXT)))],
    ['in a coding named like a member of every object', { 'content-encoding': '__proto__' }, Buffer.from(TEXT)],
  ])('is not to be had where it is %s', (_how, headers, body) => {
    expect(replyText(body, headers)).toEqual({ cause: 'reply_unreadable' });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(undefined, 'gzip', 'deflate', 'br', 'br, gzip', ''),
        fc.oneof(fc.string(), fc.constantFrom('x; charset=utf-16', 'x; charset=shift_jis', 'x; charset=')),
        (bytes, encoding, type) => {
          const reply = replyText(Buffer.from(bytes), { 'content-encoding': encoding, 'content-type': type });
          expect('text' in reply ? typeof reply.text : reply.cause).toMatch(/^(?:string|reply_unreadable)$/);
        },
      ),
    );
  });
});

import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';

/** In decoded bytes: more than any payment gateway sends. */
export const MAX_REPLY_BYTES = 1_048_576;
/** One is usual; a proxy may add a second. */
const MAX_CODINGS = 2;

type Decoder = (body: Buffer, options: ZlibOptions) => Buffer;

/** Some servers leave out the zlib header, whose first byte ends in 8. */
const inflate: Decoder = (body, options) => ((body[0] ?? 0) % 16 === 8 ? inflateSync : inflateRawSync)(body, options);
const DECODERS = new Map<string, Decoder>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['deflate', inflate],
]);

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body, or why it cannot be read. */
export function replyText(
  body: Buffer,
  headers: IncomingHttpHeaders,
): { text: string } | { cause: 'reply_too_large' | 'reply_unreadable' } {
  const names = String(headers['content-encoding'] ?? '').toLowerCase();
  const codings = names.split(/[\s,]+/).filter((name) => name !== '' && name !== 'identity');
  if (codings.length > MAX_CODINGS) return { cause: 'reply_unreadable' };
  let bytes = body;
  for (const coding of bytes.length > 0 ? codings.reverse() : []) {
    const decoder = DECODERS.get(coding);
    if (!decoder) return { cause: 'reply_unreadable' };
    try {
      bytes = decoder(bytes, { maxOutputLength: MAX_REPLY_BYTES });
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return { cause: isTooLarge ? 'reply_too_large' : 'reply_unreadable' };
    }
  }
  return { text: textOf(bytes, String(headers['content-type'] ?? '')) };
}

/** Decodes as UTF-8 if that is valid, else as the content type says, else as Latin-1, in which every byte is valid. */
function textOf(bytes: Buffer, contentType: string): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    // Not UTF-8: the next character set is tried.
  }
  const [, charset = 'latin1'] = /charset="?([^";\s]+)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

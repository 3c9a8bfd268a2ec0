import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from 'node:zlib';

/** More decoded bytes than this are no answer of a payment gateway. */
export const MOST_REPLY_BYTES = 1_048_576;

type Decoder = (input: InputType, options: ZlibOptions, done: (error: Error | null, output: Buffer) => void) => void;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: inflate,
  br: brotliDecompress,
};

/** What an answer's headers say about its body. */
export interface BodyHeaders {
  readonly contentEncoding: string;
  readonly contentType: string;
}

/** The text of a body, or why there is none. A character set that lies is no reason to lose an answer. */
export async function replyText(
  body: Buffer,
  { contentEncoding, contentType }: BodyHeaders,
): Promise<{ text: string } | { cause: 'reply_too_large' | 'reply_unreadable' }> {
  let bytes = body;
  const encodings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  for (const name of encodings.reverse()) {
    if (name === '' || name === 'identity') continue;
    const decoder = DECODERS[name];
    if (!decoder) return { cause: 'reply_unreadable' };
    const decoded = await decode(decoder, bytes);
    if (!Buffer.isBuffer(decoded)) return { cause: decoded };
    bytes = decoded;
  }
  return { text: textOf(bytes, contentType) };
}

function decode(decoder: Decoder, body: Buffer): Promise<Buffer | 'reply_too_large' | 'reply_unreadable'> {
  return new Promise((resolve) => {
    decoder(body, { maxOutputLength: MOST_REPLY_BYTES }, (error, output) => {
      if (!error) return resolve(output);
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      resolve(isTooLarge ? 'reply_too_large' : 'reply_unreadable');
    });
  });
}

/** UTF-8 where it is that, then what the content type says, then Latin-1, in which every byte is something. */
function textOf(bytes: Buffer, contentType: string): string {
  const [, charset = 'latin1'] = /charset="?([^";\s]+)/i.exec(contentType) ?? [];
  for (const label of ['utf-8', charset]) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      continue;
    }
  }
  return bytes.toString('latin1');
}

import { hash } from 'node:crypto';

/*
 * Bytes of cards and secrets must stay out of the memory that Node's small Buffers share. `Buffer.from` and
 * `Buffer.concat` would leave them there, for all code that has another small Buffer, or gets one from another thread.
 * The Buffers here have memory of their own, and are wiped.
 */

const SCRATCH_SIZE = 4_096;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_SIZE);

/** The bytes of a text. The caller wipes them. */
export function ownBytes(text: string, encoding: BufferEncoding): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, encoding));
  return bytes.subarray(0, bytes.write(text, encoding));
}

/** Several pieces in one Buffer. The caller wipes it. */
export function ownCopy(pieces: readonly Buffer[], size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  for (const piece of pieces) end += piece.copy(bytes, end);
  return bytes;
}

/** Decodes a text from one encoding and encodes it in another. The bytes are wiped. */
export function recoded(text: string, from: BufferEncoding, to: BufferEncoding): string {
  return inScratch(Buffer.byteLength(text, from), (bytes, size) =>
    bytes.toString(to, 0, bytes.write(text, 0, size, from)),
  );
}

/** SHA-256, in lowercase hex, of the bytes that `encoded` stands for, followed by `text`. The bytes are wiped. */
export function sha256(encoded: string, encoding: BufferEncoding, text: string): string {
  return inScratch(Buffer.byteLength(encoded, encoding) + Buffer.byteLength(text), (bytes, size) => {
    const middle = bytes.write(encoded, 0, size, encoding);
    const end = middle + bytes.write(text, middle, size - middle, 'utf8');
    return hash('sha256', bytes.subarray(0, end), 'hex');
  });
}

function inScratch(size: number, work: (bytes: Buffer, size: number) => string): string {
  const bytes = size <= SCRATCH_SIZE ? scratch : Buffer.allocUnsafeSlow(size);
  try {
    return work(bytes, size);
  } finally {
    bytes.fill(0, 0, size);
  }
}

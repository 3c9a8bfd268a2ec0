/**
 * Bytes that stand for cards and secrets, kept out of the memory that Node's small Buffers share: `Buffer.from` and
 * `Buffer.concat` leave them there, where whoever has any other small Buffer, or is posted one, can read them. These
 * have memory of their own, and are wiped.
 */
const SCRATCH_SIZE = 4_096;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_SIZE);

/** A text's bytes. Whoever asks for them wipes them. */
export function ownBytes(text: string, encoding: BufferEncoding): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, encoding));
  return bytes.subarray(0, bytes.write(text, encoding));
}

/** Several pieces as one. Whoever asks for it wipes it. */
export function ownCopy(pieces: readonly Buffer[], size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  for (const piece of pieces) end += piece.copy(bytes, end);
  return bytes;
}

/** What a text's bytes in one encoding say in another. Nothing of them is left behind. */
export function recoded(text: string, from: BufferEncoding, to: BufferEncoding): string {
  const size = Buffer.byteLength(text, from);
  const bytes = size <= SCRATCH_SIZE ? scratch : Buffer.allocUnsafeSlow(size);
  try {
    return bytes.toString(to, 0, bytes.write(text, 0, size, from));
  } finally {
    bytes.fill(0, 0, size);
  }
}

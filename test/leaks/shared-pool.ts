/** Large enough that nothing begins another slab unseen, and that what is not small otherwise is pooled, too. */
const POOL_SIZE = 8 * 1_048_576;

/**
 * The memory that small Buffers share: whoever has one of them, or is posted one, has all of it. A new, empty slab of
 * it takes in everything that is pooled from now on.
 */
export class SharedPool {
  private readonly poolSize = Buffer.poolSize;
  private readonly slab: ArrayBufferLike;

  constructor() {
    Buffer.poolSize = POOL_SIZE;
    this.slab = nextSlab();
    // Nobody else has any of it yet: what was in this memory before is not what is searched for.
    new Uint8Array(this.slab).fill(0);
  }

  /** All that was pooled: a thread that is sent a Buffer of five bytes receives all of it. */
  close(): Buffer {
    const posted: Uint8Array = structuredClone(Buffer.from('hello'));
    const isWhole = Buffer.from('hello').buffer === this.slab;
    Buffer.poolSize = this.poolSize;
    nextSlab();
    if (!isWhole) throw new Error('more was pooled than one slab holds');
    return Buffer.from(posted.buffer);
  }
}

/** Fills the slab that is in use, so that Node.js begins another one. */
function nextSlab(): ArrayBufferLike {
  const { buffer } = Buffer.allocUnsafe(1);
  for (;;) {
    const next = Buffer.allocUnsafe((Buffer.poolSize >>> 1) - 1).buffer;
    if (next !== buffer && next.byteLength === Buffer.poolSize) return next;
  }
}

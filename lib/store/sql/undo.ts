/** Thrown to undo a transaction that has an outcome nevertheless. */
export class Undo extends Error {
  constructor(readonly outcome: unknown) {
    super('undone');
  }
}

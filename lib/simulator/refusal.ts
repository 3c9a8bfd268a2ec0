/** Why the simulator refuses a request. All codes but the first are its own: public sources name no others. */
export const REFUSAL_CODES = {
  conversationId: 'RVV0000999999',
  json: 'RVV0000000400',
  credentials: 'RVV0000000401',
  sign: 'RVV0000000403',
  path: 'RVV0000000404',
  method: 'RVV0000000405',
  repeated: 'RVV0000000409',
  callback: 'RVV0000000412',
  contentType: 'RVV0000000415',
  fields: 'RVV0000000422',
} as const;

/** A request that the simulator does not accept. Its texts name fields, never values. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problems: readonly string[] = [],
  ) {
    super(message);
  }
}

// The types of the peers that are used here, so that types can be checked while the peers are not installed.

declare module 'stripe' {
  export default class Stripe {
    constructor(key: string, settings: { host: string; port: string; protocol: 'http' });
    readonly paymentIntents: { create(parameters: object): Promise<{ status: string }> };
  }
}

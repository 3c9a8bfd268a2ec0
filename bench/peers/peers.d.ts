// The types of the peers that are used here, so that types can be checked while the peers are not installed.

declare module 'stripe' {
  export default class Stripe {
    constructor(key: string, settings: { host: string; port: string; protocol: 'http' });
    readonly paymentIntents: { create(parameters: object): Promise<{ status: string }> };
  }
}

declare module 'iyzipay' {
  export default class Iyzipay {
    constructor(settings: { apiKey: string; secretKey: string; uri: string });
    readonly payment: {
      create(request: object, done: (error: Error | null, result: { status: string }) => void): void;
    };
  }
}

declare module '@craftgate/craftgate' {
  interface Client {
    payment(): { createPayment(request: object): Promise<{ paymentStatus: string }> };
  }
  const craftgate: { Client: new (settings: { apiKey: string; secretKey: string; baseUrl: string }) => Client };
  export default craftgate;
}

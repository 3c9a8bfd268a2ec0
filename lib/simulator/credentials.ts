/** Who the merchant is to the simulator. */
export interface SimulatorCredentials {
  readonly merchantId: string;
  readonly clientId: string;
  /** Base64, as the morpos dialect hashes its decoded bytes. */
  readonly clientSecret: string;
  readonly apiKey: string;
}

/** The credentials of a simulator that was given none. They are published and protect nothing. */
export const SIMULATOR_CREDENTIALS: SimulatorCredentials = {
  merchantId: '100200300',
  clientId: 'simulator-client',
  clientSecret: 'c2ltdWxhdG9yLWNsaWVudC1zZWNyZXQ=',
  apiKey: 'simulator-api-key',
};

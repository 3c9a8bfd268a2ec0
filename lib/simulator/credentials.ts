/** Who the merchant is to the simulator. */
export interface SimulatorCredentials {
  readonly merchantId: string;
  readonly clientId: string;
  /** Base64, since the morpos dialect hashes the decoded bytes. */
  readonly clientSecret: string;
  readonly apiKey: string;
}

/** The default credentials of a simulator. They are public and protect nothing. */
export const SIMULATOR_CREDENTIALS: SimulatorCredentials = {
  merchantId: '100200300',
  clientId: 'simulator-client',
  clientSecret: 'c2ltdWxhdG9yLWNsaWVudC1zZWNyZXQ=',
  apiKey: 'simulator-api-key',
};

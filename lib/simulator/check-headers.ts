import type { IncomingHttpHeaders } from 'node:http';
import { Refusal, REFUSAL_CODES } from './refusal.js';
import type { SimulatorOperation } from './ledger.js';
import type { SimulatorSettings } from './simulator-options.js';

const SCOPES = ['pf_write', 'pf_read'];

/**
 * The five headers of docs/interface.md. That Init3d, Auth3d and CheckPayment carry them too, and the morpos forms of
 * x-Timestamp and x-ClientSecret, is from the service's public documentation; that an inquiry, of a payment or a BIN, needs
 * the scope `pf_read`, and all else `pf_write`, is the simulator's own strictness.
 *
 * @throws Refusal (401)
 */
export function checkHeaders(
  headers: IncomingHttpHeaders,
  operation: SimulatorOperation,
  settings: SimulatorSettings,
): void {
  const { dialect, clock, timestampToleranceMs } = settings;
  const { clientId, clientSecret } = settings.credentials;
  const timestamp = headerText(headers, 'x-timestamp');
  const distance = Math.abs(dialect.readTimestamp(timestamp) - clock().getTime());
  expect('x-Timestamp', distance <= timestampToleranceMs);
  expect('x-ClientID', headerText(headers, 'x-clientid') === clientId);
  expect('x-ClientSecret', headerText(headers, 'x-clientsecret') === dialect.clientSecret(clientSecret, timestamp));
  expect('x-GrantType', headerText(headers, 'x-granttype') === 'client_credentials');
  const scopes = headerText(headers, 'x-scope').split(/,? /);
  expect(
    'x-Scope',
    scopes.every((scope) => SCOPES.includes(scope)) &&
      scopes.includes(operation.startsWith('Check') ? 'pf_read' : 'pf_write'),
  );
}

function headerText(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function expect(name: string, good: boolean): void {
  if (!good) throw new Refusal(401, REFUSAL_CODES.credentials, 'Unauthorized', [`${name} is missing or wrong`]);
}

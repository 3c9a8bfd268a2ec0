import type { IncomingHttpHeaders } from 'node:http';
import { Refusal, REFUSAL_CODES } from './refusal.js';
import type { SimulatorSettings } from './simulator-options.js';
import { morposClientSecret } from './sign.js';

const SCOPES = ['pf_write', 'pf_read'];

/**
 * The five headers of contract section 5. That Init3d, Auth3d and CheckPayment carry them too, and the morpos forms of
 * x-Timestamp and x-ClientSecret, is from the service's public documentation.
 *
 * @throws Refusal (401)
 */
export function checkHeaders(headers: IncomingHttpHeaders, settings: SimulatorSettings): void {
  const { clientId, clientSecret } = settings.credentials;
  const timestamp = headerText(headers, 'x-timestamp');
  checkTimestamp(timestamp, settings);
  const secret = settings.dialect === 'morpos' ? morposClientSecret(clientSecret, timestamp) : clientSecret;
  expect('x-ClientID', headerText(headers, 'x-clientid') === clientId);
  expect('x-ClientSecret', headerText(headers, 'x-clientsecret') === secret);
  expect('x-GrantType', headerText(headers, 'x-granttype') === 'client_credentials');
  const scopes = headerText(headers, 'x-scope').split(/,? /);
  expect(
    'x-Scope',
    scopes.every((scope) => SCOPES.includes(scope)),
  );
}

function checkTimestamp(text: string, { dialect, clock, timestampToleranceMs }: SimulatorSettings): void {
  const iso = dialect === 'morpos' ? text.replace(MORPOS_TIMESTAMP, '$1-$2-$3T$4:$5:$6Z') : text;
  const wellFormed = (dialect === 'morpos' ? MORPOS_TIMESTAMP : ISO_UTC_TIMESTAMP).test(text);
  const distance = Math.abs(Date.parse(iso) - clock().getTime());
  expect('x-Timestamp', wellFormed && distance <= timestampToleranceMs);
}

const MORPOS_TIMESTAMP = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;
const ISO_UTC_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

function headerText(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function expect(name: string, good: boolean): void {
  if (!good) throw new Refusal(401, REFUSAL_CODES.credentials, 'Unauthorized', [`${name} is missing or wrong`]);
}

import { channel } from 'node:diagnostics_channel';

/**
 * Where undici shows requests and replies to whoever subscribes in this process: headers, which hold the client's
 * secret, bodies, which hold the card, and the bank's page.
 */
const CHANNELS = [
  'undici:request:create',
  'undici:client:sendHeaders',
  'undici:request:bodyChunkSent',
  'undici:request:bodySent',
  'undici:request:headers',
  'undici:request:bodyChunkReceived',
  'undici:request:trailers',
  'undici:request:error',
].map((name) => channel(name));

/** A warning about who can see payment requests now; null where nobody has subscribed. */
export function monitorWarning(): string | null {
  const watched = CHANNELS.filter(({ hasSubscribers }) => hasSubscribers).map(({ name }) => String(name));
  if (watched.length === 0) return null;
  return (
    `Something in this process has subscribed to ${watched.join(', ')}: these diagnostics channels show it what is ` +
    'sent to the payment gateway and what comes back, with cards and secrets. See that it keeps and exports neither ' +
    'headers nor bodies (docs/diagnostics.md).'
  );
}

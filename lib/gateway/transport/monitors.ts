import { channel } from 'node:diagnostics_channel';
import { PaymentLogger } from '../../telemetry/payment-logger.js';

/**
 * The channels on which undici shows requests and replies to every subscriber in this process: headers, which hold the
 * client's secret, bodies, which hold the card, and the bank's page.
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

/** Warns once if something in this process can see payment requests, such as a monitoring agent. */
export class MonitorWarning {
  private readonly logger = new PaymentLogger();
  private isGiven = false;

  /** To be called before each request, since a monitor may subscribe at any time. */
  check(): void {
    if (this.isGiven) return;
    const watched = CHANNELS.filter(({ hasSubscribers }) => hasSubscribers).map(({ name }) => String(name));
    if (watched.length === 0) return;
    this.isGiven = true;
    this.logger.warn(
      `Something in this process has subscribed to ${watched.join(', ')}: these diagnostics channels show it what is ` +
        'sent to the payment gateway and what comes back, with cards and secrets. Make sure that it neither keeps ' +
        'nor exports headers or bodies (docs/internals/diagnostics.md).',
    );
  }
}

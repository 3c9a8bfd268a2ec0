import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { STRONG_TLS } from '../../payment/tls.js';
import { causeOf } from './failure-cause.js';
import { withinTime } from './time-limit.js';

export type ReachStep = 'DNS' | 'TCP' | 'TLS';

export type Reach =
  /** `certificateUntil` is null where there is no TLS. */
  | { readonly isReached: true; readonly protocol: string; readonly certificateUntil: Date | null }
  | { readonly isReached: false; readonly step: ReachStep; readonly cause: string };

/** Goes as far as a request would before it is written: name, connection, TLS. It sends nothing. */
export async function reachHost(url: URL, limitMs: number): Promise<Reach> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  // One for both: Node.js 20 crashes where a socket is destroyed under its TLS.
  let socket: Socket | null = null;
  let step: ReachStep = 'DNS';
  try {
    return await withinTime(limitMs, async () => {
      if (isIP(host) === 0) await lookup(host);
      step = 'TCP';
      if (!isTls) {
        socket = connect({ host, port });
        await once(socket, 'connect');
        return { isReached: true, protocol: 'without TLS', certificateUntil: null };
      }
      const secured = securedSocket(host, port);
      socket = secured;
      await once(secured, 'connect');
      step = 'TLS';
      await once(secured, 'secureConnect');
      const until = new Date(secured.getPeerCertificate().valid_to);
      return { isReached: true, protocol: secured.getProtocol() ?? 'TLS', certificateUntil: until };
    });
  } catch (error) {
    return { isReached: false, step, cause: causeOf(error) };
  } finally {
    const last = socket as Socket | null;
    last?.on('error', () => undefined).destroy();
  }
}

/** As strict as the module itself: NODE_TLS_REJECT_UNAUTHORIZED and --tls-min-v1.0 do not reach it. */
function securedSocket(host: string, port: number): TLSSocket {
  const servername = isIP(host) === 0 ? host : '';
  const checks = { ...STRONG_TLS, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
  return connectTls({ ...checks, host, port, servername });
}

import { createHash } from 'node:crypto';

/** What tells one gateway of a merchant from another. */
export interface GatewayAccount {
  /** The dialect's name. */
  readonly dialect: string;
  readonly baseUrl: string;
  readonly merchantId: string;
}

/**
 * The id of a gateway, which a record keeps: its host, for people, and a hash of dialect, host, port and merchantId.
 * The path of its address is no part of it. The embedded simulator (`simulator:`) has no host and no port.
 */
export function gatewayIdOf({ dialect, baseUrl, merchantId }: GatewayAccount): string {
  const { protocol, host, hostname, port } = new URL(baseUrl);
  const numberedPort = port || (protocol === 'http:' ? '80' : '443');
  const place = host === '' ? [protocol] : [hostname, numberedPort];
  const hash = createHash('sha256')
    .update(JSON.stringify([dialect, ...place, merchantId]))
    .digest('hex');
  return `${host || protocol} ${hash.slice(0, 16)}`;
}

/** The host of a gateway, with its port unless that is the usual one. */
export function gatewayHostOf(gatewayId: string): string {
  return gatewayId.slice(0, gatewayId.lastIndexOf(' '));
}

/** The unsettled payments and refunds of other gateways than an account has now. */
export interface OtherGateways {
  readonly count: number;
  /** The hosts of these gateways. */
  readonly hosts: readonly string[];
}

/** @param counts how many there are, by the id of their gateway */
export function otherGatewaysIn(counts: Readonly<Record<string, number>>): OtherGateways {
  const hosts = new Set(Object.keys(counts).map(gatewayHostOf));
  return { count: Object.values(counts).reduce((sum, count) => sum + count, 0), hosts: [...hosts].sort() };
}

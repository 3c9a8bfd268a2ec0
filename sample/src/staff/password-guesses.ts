import { isIPv6 } from 'node:net';
import { Injectable } from '@nestjs/common';

const AN_HOUR_MS = 3_600_000;
const MAX_OF_ADDRESS = 20;
const MAX_OF_ALL = 200;
const MAX_KNOWN_ADDRESSES = 100;

interface WrongGuesses {
  count: number;
  readonly until: number;
}

/**
 * Counts wrong admin passwords within an hour: for each address, and for all together, since an attacker may have many
 * addresses. Tries that are refused during the wait do not count, so they do not prolong it.
 *
 * The limit for all together does not apply to an address that has given the right password. Otherwise an attacker with
 * many addresses could lock the owner out for as long as the attack lasts. An owner at a new address can restart the
 * shop. Each process has its own counts.
 */
@Injectable()
export class PasswordGuesses {
  private readonly ofAddress = new Map<string, WrongGuesses>();
  private ofAll: WrongGuesses = { count: 0, until: 0 };
  private readonly known = new Set<string>();

  /** In milliseconds, until that address may try again; 0 if it may now. */
  waitOf(address: string): number {
    const now = performance.now();
    const network = networkOf(address);
    const ofAddress = this.ofAddress.get(network);
    if (ofAddress && ofAddress.until > now && ofAddress.count >= MAX_OF_ADDRESS) return ofAddress.until - now;
    const isOverAll = this.ofAll.until > now && this.ofAll.count >= MAX_OF_ALL;
    return isOverAll && !this.known.has(network) ? this.ofAll.until - now : 0;
  }

  countWrong(address: string): void {
    const now = performance.now();
    const network = networkOf(address);
    for (const [other, { until }] of this.ofAddress) if (until <= now) this.ofAddress.delete(other);
    if (this.ofAll.until <= now) this.ofAll = { count: 0, until: now + AN_HOUR_MS };
    const ofAddress = this.ofAddress.get(network) ?? { count: 0, until: now + AN_HOUR_MS };
    this.ofAddress.set(network, ofAddress);
    ofAddress.count += 1;
    this.ofAll.count += 1;
  }

  /**
   * Called for the right password. It does not reset the count: behind a proxy, an attacker may have the same address.
   */
  remember(address: string): void {
    const network = networkOf(address);
    this.known.delete(network);
    this.known.add(network);
    const [oldest] = this.known;
    if (this.known.size > MAX_KNOWN_ADDRESSES && oldest !== undefined) this.known.delete(oldest);
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: its owner has all addresses of that network. */
function networkOf(address: string): string {
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined || !isIPv6(address)) return ipv4 ?? address;
  const [before = '', after = ''] = address.toLowerCase().split('::');
  const [first, last] = [before, after].map((groups) => groups.split(':').filter(Boolean)) as [string[], string[]];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}

import type { SecureContextOptions } from 'node:tls';

/** Whether the host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d+){3}$/.test(hostname)
  );
}

/** A path without slashes at its ends. */
export function trimSlashes(path: string): string {
  return path.replace(/^\/+|(?<!\/)\/+$/g, '');
}

/**
 * Options for TLS connections: only TLS 1.2 and 1.3, with forward secrecy and authenticated encryption, by Mozilla's
 * intermediate list. They are set explicitly, so that `--tls-min-v1.0` and `--tls-cipher-list`, meant for something
 * else, do not affect payments.
 */
export const STRONG_TLS = Object.freeze({
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'DHE-RSA-AES128-GCM-SHA256',
    'DHE-RSA-AES256-GCM-SHA384',
    'DHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  /** For a Diffie-Hellman key exchange, in bits. */
  minDHSize: 2048,
} as const satisfies SecureContextOptions & { readonly minDHSize: number });

/** Whether Node was told to check no certificates. Drivers of stores obey that; payment requests do not. */
export function looksAtNoCertificate(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0';
}

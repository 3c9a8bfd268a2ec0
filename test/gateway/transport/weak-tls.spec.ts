import { once } from 'node:events';
import { createServer } from 'node:net';
import tls, { connect, type TlsOptions, TLSSocket } from 'node:tls';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { STRONG_TLS } from '../../../lib/runtime/network.js';
import { selfSigned } from '../../rigs/certificates.js';
import { agentOf, closeAll, listening, requestTo, transportOf, wiretap } from './gateways.js';

const own = selfSigned('127.0.0.1');
/** A name, and what the server offers. */
const WEAK: [string, TlsOptions][] = [
  ['TLS 1.1', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
  ['TLS 1.2 without authenticated encryption', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' }],
];
const TOO_WEAK = /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|HANDSHAKE_FAILURE/;

const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;

describe('weak tls', () => {
  // The same as `--tls-min-v1.0 --tls-cipher-list=…`.
  beforeAll(() => {
    tls.DEFAULT_MIN_VERSION = 'TLSv1';
    tls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0';
  });
  afterAll(() => Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }));
  afterEach(closeAll);

  describe.each(WEAK)('in a process that takes weak TLS, a server with %s', (_name, weak) => {
    const options = { ...own, ...weak };

    it('is reached by whoever makes no conditions', async () => {
      const { url } = await wiretap(undefined, options);
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      socket.destroy();
    });

    it('is sent no payment', async () => {
      const { url, texts } = await wiretap(undefined, options);
      expect(await transportOf().post(requestTo(url))).toEqual({
        sent: false,
        cause: 'connection_failed',
        errorCode: expect.stringMatching(TOO_WEAK),
      });
      expect(texts).toEqual([]);
    });

    it("is sent one over a host's own dispatcher, which is the host's", async () => {
      const { url } = await wiretap((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n{}'), options);
      const dispatcher = agentOf({ connect: { ca: own.cert } });
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toMatchObject({ sent: true });
    });

    // The URL has options for certificates, which make no difference.
    it.each(['sslmode=no-verify', 'sslmode=no-verify&sslnegotiation=direct'])(
      'is no PostgreSQL (%s)',
      async (query) => {
        const received: string[] = [];
        const server = createServer((socket) => {
          const secure = (): void => {
            const secured = new TLSSocket(socket, { ...options, isServer: true, ALPNProtocols: ['postgresql'] });
            secured.on('error', () => undefined).on('data', (data: Buffer) => received.push(data.toString('latin1')));
          };
          if (query.includes('direct')) return secure();
          socket.once('data', () => {
            socket.write('S');
            secure();
          });
        });
        const store = await openSqlStore(`postgres://user:password@${await listening(server)}/shop?${query}`);
        await expect(store.open()).rejects.toThrow(
          'PostgreSQL does not agree on TLS: 1.2 or 1.3, with forward secrecy',
        );
        await store.close();
        expect(received).toEqual([]);
      },
    );
  });

  it('names only ciphers with forward secrecy and authenticated encryption, and every one is known', () => {
    const names = STRONG_TLS.ciphers.split(':');
    expect(names.filter((name) => !tls.getCiphers().includes(name.toLowerCase()))).toEqual([]);
    expect(names.filter((name) => !/^(TLS_|(EC)?DHE-).*(GCM|POLY1305)/.test(name))).toEqual([]);
  });
});
